//! `toolgate policy explain`: what would be decided about a call, which rule decides, and which came close. Nothing is called.

use clap::Args;
use serde_json::Value;
use toolgate::filter::Arguments as Facts;
use toolgate::policy::{CallFacts, Explanation, Found, WhyClose};
use toolgate::registry::ToolId;
use toolgate::servers::BUILT_IN_SERVERS;
use toolgate::shape::visible;
use toolgate::{Asker, CallRules, Host, Interest, RawJson, ServerName, ToolCall};

use crate::call_rules;
use crate::commands::call::given_arguments;
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::{Form, Printer};
use crate::rule_text;
use crate::session::Session;

/// Say what would be decided about a call, and why
///
/// Somebody who can be asked is assumed unless --headless is given. Nothing is called; servers are started to find the tool.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate policy explain write_file --args '{\"path\": \"src/a.rs\"}'
  toolgate policy explain run_shell_command --args '{\"command\": \"git push\"}' --mode autoEdit
  toolgate policy explain github__create_issue --headless --json"
)]
pub(crate) struct Arguments {
    /// The tool, as `toolgate tools` shows it, or SERVER__TOOL
    name: String,
    /// The arguments as a JSON object, @FILE to read them from a file, - from stdin
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    args: String,
    /// Who would ask for it
    #[arg(long, value_name = "WHO", default_value = "model", value_parser = asker)]
    asker: Asker,
}

fn asker(word: &str) -> std::result::Result<Asker, String> {
    let known = Asker::ALL.into_iter().find(|asker| asker.as_str() == word);
    known.ok_or_else(|| format!("expected one of {}", Asker::ALL.map(Asker::as_str).join(", ")))
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let given = given_arguments(Some(&arguments.args), session)?.unwrap_or(RawJson::EMPTY_OBJECT);
    let configured = session.looked_at()?;
    let rules = call_rules::for_listing(session, configured.setup())?;
    let explaining = Explaining { arguments, given };
    let Ok(servers) = configured.setup().admitted() else {
        return explaining.without_servers(session, &configured, &rules);
    };
    let only = session.options().server.clone().or_else(|| configured.named_in(&arguments.name));
    let servers = match &only {
        Some(_) => configured.chosen(only.as_deref())?,
        None => servers,
    };
    let plan = configured.plan(Interest::TOOLS).with_memory().with(rules);
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        explaining.with_servers(host, printer).await
    })
}

/// One run of the command.
struct Explaining<'a> {
    arguments: &'a Arguments,
    given: RawJson,
}

/// What is explained, and what came of it.
struct Explained<'a> {
    name: &'a str,
    id: ToolId,
    /// What has to be known to read it.
    note: Option<String>,
    explanation: Explanation,
}

impl Explaining<'_> {
    async fn with_servers(&self, host: &Host, printer: &mut Printer) -> Result<Ending> {
        let name = &self.arguments.name;
        let catalog = match host.find_tool(name).await {
            Ok(catalog) => catalog,
            Err(unknown) => {
                let catalog = host.catalog_now();
                let hidden = catalog.filtered().find(|one| is_named(name, &one.server, &one.tool));
                let Some(hidden) = hidden else { return Err(unknown.into()) };
                let message = format!("`{}` of {} is hidden: {}", hidden.tool, hidden.server, hidden.reason);
                return print_hidden(printer, name, &hidden.server, &hidden.tool, &message);
            }
        };
        let call = ToolCall { name: name.clone(), arguments: self.given.clone(), asked_by: self.arguments.asker };
        let call = catalog.prepare(call)?;
        let explanation = host.explain(&call);
        print(printer, &Explained { name, id: call.tool().id.clone(), note: None, explanation })
    }

    /// In a folder that is not trusted nothing is started, so the tool is taken by its name.
    fn without_servers(&self, session: &mut Session, configured: &Configured, rules: &CallRules) -> Result<Ending> {
        let name = &self.arguments.name;
        let of_server = configured.named_in(name).and_then(|server| {
            let tool = name.strip_prefix(server.as_str())?.strip_prefix("__")?.to_owned();
            Some((server, tool))
        });
        // A name without a server is taken for a tool of the built-in one.
        let built_in = || BUILT_IN_SERVERS.first().copied().unwrap_or_default().to_owned();
        let (server, tool) = of_server.unwrap_or_else(|| (built_in(), name.clone()));
        let active = configured.setup().servers.active.iter().find(|one| *one.name == *server);
        let builtin = match active {
            Some(server) => server.transport.builtin(),
            None => BUILT_IN_SERVERS.iter().copied().find(|name| *name == server),
        };
        let server = ServerName::new(&server).map_err(|error| CommandError::usage(error.to_string()))?;
        let value: Value = self.given.read().unwrap_or_default();
        let facts = CallFacts {
            server: &server,
            builtin,
            tool: &tool,
            arguments: &Facts::new(&value).in_folder(&session.env().workspace).leading_out(),
            annotations: &Value::Null,
            mode: rules.mode,
            presence: rules.presence,
            asker: self.arguments.asker,
            subagent: None,
            folder: &session.env().workspace,
            folder_is_trusted: false,
            remembered: None,
        };
        let explanation = rules.permissions.explain(&facts);
        let note = "the folder is not trusted, so no server was started: the tool is taken by its name".to_owned();
        let id = ToolId { server, tool: tool.as_str().into() };
        print(&mut session.printer, &Explained { name, id, note: Some(note), explanation })
    }
}

fn is_named(name: &str, server: &str, tool: &str) -> bool {
    name == tool || name.strip_prefix(server).and_then(|rest| rest.strip_prefix("__")) == Some(tool)
}

/// A tool that its server's own lists hide has no calls to decide about.
fn print_hidden(printer: &mut Printer, name: &str, server: &str, tool: &str, message: &str) -> Result<Ending> {
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("name", name)?;
                object.string("server", server)?;
                object.string("tool", tool)?;
                object.string("decision", "deny")?;
                object.flag("visible", false)?;
                object.member("rule", |json| {
                    json.object(|object| {
                        object.string("kind", "filter")?;
                        object.string("source", message)
                    })
                })?;
                object.array("trace", std::iter::empty::<&str>(), |json, text| json.string(text))
            })
        })?,
        Form::Text => printer.line(&format!("deny: {}", visible::line(message)))?,
    }
    Ok(Ending::Done)
}

fn print(printer: &mut Printer, explained: &Explained<'_>) -> Result<Ending> {
    match printer.form() {
        Form::Json => print_json(printer, explained)?,
        Form::Text => print_text(printer, explained)?,
    }
    Ok(Ending::Done)
}

fn print_text(printer: &mut Printer, explained: &Explained<'_>) -> Result<()> {
    let paint = printer.paint();
    let Explanation { verdict, visible: is_shown, trace, close } = &explained.explanation;
    let ToolId { server, tool } = &explained.id;
    let about = format!("`{}` of {}", visible::line(tool), visible::line(server));
    printer.line(&format!("{}: {about}", paint.bold(verdict.decision.as_str())))?;
    printer.line(&format!("  decided by   {}", rule_text::because(verdict, paint)))?;
    for adjustment in &verdict.adjustments {
        printer.line(&format!("  and          {}", visible::line(adjustment)))?;
    }
    printer.line(&format!("  shown        {}", if *is_shown { "yes" } else { "no: every call would be denied" }))?;
    if let Some(note) = &explained.note {
        printer.line(&format!("  note         {note}"))?;
    }
    let steps: Vec<_> = trace.iter().filter(|step| !matches!(step.found, Found::Misses(_))).collect();
    if steps.len() > 1 {
        printer.line("rules that fit, in order:")?;
        for step in steps {
            let command = step.command.as_ref().map(|command| format!("  [{}]", visible::line(command)));
            printer.line(&format!("  {}{}", rule_text::line(&step.rule, paint), command.unwrap_or_default()))?;
        }
    }
    if !close.is_empty() {
        printer.line("rules that came close:")?;
        for one in close {
            let why = match one.why {
                WhyClose::Misses(part) => format!("`{}` does not fit", one.rule.key_of(part)),
                WhyClose::Outranked => "it is outranked".to_owned(),
                WhyClose::HasNoEffect => "it permits, and its source can only restrict".to_owned(),
            };
            printer.line(&format!("  {}: {why}", rule_text::line(&one.rule, paint)))?;
        }
    }
    Ok(())
}

fn print_json(printer: &mut Printer, explained: &Explained<'_>) -> Result<()> {
    let Explanation { verdict, visible, trace, close } = &explained.explanation;
    printer.json(|json| {
        json.object(|object| {
            object.string("name", explained.name)?;
            object.string("server", &explained.id.server)?;
            object.string("tool", &explained.id.tool)?;
            object.string("decision", verdict.decision.as_str())?;
            object.flag("visible", *visible)?;
            rule_text::write_because(object, verdict)?;
            object.array("adjustments", &verdict.adjustments, |json, text| json.string(text))?;
            object.optional_string("note", explained.note.as_deref())?;
            object.array("trace", trace, |json, step| {
                json.object(|object| {
                    let (found, part) = match step.found {
                        Found::Matches => ("matches", None),
                        Found::Unsure => ("unsure", None),
                        Found::WeighedInPart => ("weighed_in_part", None),
                        Found::Misses(part) => ("misses", Some(step.rule.key_of(part))),
                    };
                    object.string("found", found)?;
                    object.optional_string("misses", part)?;
                    object.optional_string("command", step.command.as_deref())?;
                    object.member("rule", |json| rule_text::write_rule(json, &step.rule))
                })
            })?;
            object.array("close", close, |json, one| {
                json.object(|object| {
                    let (why, part) = match one.why {
                        WhyClose::Misses(part) => ("misses", Some(one.rule.key_of(part))),
                        WhyClose::Outranked => ("outranked", None),
                        WhyClose::HasNoEffect => ("has_no_effect", None),
                    };
                    object.string("why", why)?;
                    object.optional_string("misses", part)?;
                    object.member("rule", |json| rule_text::write_rule(json, &one.rule))
                })
            })
        })
    })?;
    Ok(())
}
