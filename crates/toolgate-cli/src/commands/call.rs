//! `toolgate call`: one tool, once.

use std::convert::Infallible;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use toolgate::audit::covered_text;
use toolgate::call::arguments as typed;
use toolgate::connect::env_hint;
use toolgate::policy::Verdict;
use toolgate::registry::{CatalogTool, ToolId};
use toolgate::shape::{for_display, visible};
use toolgate::trust::AdmittedServers;
use toolgate::{
    Asker, CallOutcome, CallReport, Error, ErrorKind, Host, Interest, RawJson, RunOptions, ServerStatus, ServerView,
    ToolCall, as_word,
};

use crate::arrival::{UNEXPLAINED_WAIT, Waiting, explained};
use crate::call_rules;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::Interrupts;
use crate::limits::{ARGUMENTS_BYTES_MAX, HINT_ARGUMENTS_BYTES_MAX};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::talk::Talk;
use crate::tool_text::usage;
use crate::trouble::Troubles;

/// Call a tool
///
/// The arguments are read the way the tool's schema says: `count=3` is a number for a tool that takes a number.
/// A key given several times makes a list, `a.b=1` reaches into an object, and `key:=JSON` takes any JSON.
/// The result goes to stdout; with exit code 1 it is the error that the tool reported.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate call read_file path=README.md
  toolgate call github__search_issues query='is:open label:bug' limit=5
  toolgate call write_file --args '{\"path\": \"a.txt\", \"content\": \"hello\"}'
  toolgate call import --args @request.json --json
  echo '{\"path\": \"a.txt\"}' | toolgate call read_file --args -"
)]
pub(crate) struct Arguments {
    /// The tool, as `toolgate tools` shows it, or SERVER__TOOL
    name: String,
    /// Arguments; they go over those of --args
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,
    /// All arguments as a JSON object: itself, in a file (@FILE), or from stdin (-)
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    args: Option<String>,
    /// Print what the server sent: texts alone one after the other, anything else as JSON
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// Give up when the tool shows no sign of life for this long
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let configured = session.configured()?;
    let given = given_arguments(arguments.args.as_deref(), session)?;
    // `server__tool` needs that server alone: nobody else has a tool of that name.
    let only = session.options().server.clone().or_else(|| configured.named_in(&arguments.name));
    let servers = configured.chosen(only.as_deref())?;
    let troubles = Troubles::new(session, only.is_some());
    let interrupts = session.interrupts();
    let waiting = session.waiting();
    let asked_by = if session.lasting().is_some() { Asker::SlashCommand } else { Asker::Cli };
    let meant = match session.options().server.as_deref().filter(|_| session.lasting().is_some()) {
        // In a session names are those among all servers.
        Some(server) if !arguments.name.starts_with(&format!("{server}__")) => format!("{server}__{}", arguments.name),
        _ => arguments.name.clone(),
    };
    let held_back = if only.is_none() { configured.held_back_in_words() } else { String::new() };
    let calling = Calling { arguments, meant, given, only, held_back, troubles, interrupts, waiting, asked_by };
    let plan = configured.plan(Interest::TOOLS).with_memory().starting(&servers);
    let plan = session.reading_ahead(plan, &servers);
    let plan = plan.with(call_rules::for_calls(session, configured.setup())?);
    session.with_host(&plan, async |host, printer| calling.go(host, servers, printer).await)
}

/// One run of the command.
struct Calling<'a> {
    arguments: &'a Arguments,
    /// The name that is looked for.
    meant: String,
    given: Option<RawJson>,
    /// The one server that can have the tool.
    only: Option<String>,
    /// The servers that are written and not used, each with the reason.
    held_back: String,
    troubles: Troubles,
    interrupts: Interrupts,
    waiting: Waiting,
    asked_by: Asker,
}

impl Calling<'_> {
    async fn go(&self, host: &Host, servers: AdmittedServers, printer: &mut Printer) -> Result<Ending> {
        host.start(servers);
        let name = &self.meant;
        let found = match explained(host, printer.talk(), host.find_tool(name)).await {
            Err(_) if self.logs_in(host).await => explained(host, printer.talk(), host.find_tool(name)).await,
            found => found,
        };
        let catalog = match found {
            Ok(catalog) => catalog,
            Err(error) => return Err(self.not_found(host, &error)),
        };
        let tool = catalog.find(name).ok_or_else(|| CommandError::from(catalog.unknown(name)))?.clone();
        let arguments = self.typed_arguments(&tool)?;
        let call = ToolCall { name: name.clone(), arguments: arguments.clone(), asked_by: self.asked_by };
        let options = RunOptions { timeout: self.arguments.timeout.map(Duration::from_millis), max_duration: None };
        let call = catalog.prepare(call)?;
        let started = Instant::now();
        printer.talk().begins();
        // Dropped when the person stops waiting: the server is told.
        let outcome = tokio::select! {
            biased;
            outcome = host.run(call, options) => outcome,
            () = self.interrupts.next() => CallOutcome::Cancelled,
            never = explain(host, printer.talk(), &tool) => match never {},
        };
        printer.talk().waits_no_more();
        printer.talk().give_up_question();
        let given = self.arguments.args.as_deref();
        let took = outcome.report().map_or_else(|| started.elapsed(), |report| report.took);
        let ended = Ended { name, tool: &tool, arguments: &arguments, given, outcome: &outcome, took };
        ended.hint_at_env(host, printer.talk());
        match printer.form() {
            Form::Json => ended.print_json(printer),
            Form::Text => ended.print_text(printer, self.arguments.raw),
        }
    }

    /// Whether the one server that was asked for lets the person in now: it wanted a login when nobody had asked for anything of it.
    async fn logs_in(&self, host: &Host) -> bool {
        let is_closed = |view: &ServerView| {
            self.only.as_deref() == Some(view.name().as_str()) && view.status == ServerStatus::NeedsLogin
        };
        let closed = host.servers().into_iter().find(is_closed).filter(|_| self.waiting == Waiting::ForNobody);
        match closed.and_then(|view| host.line(view.name()).ok()) {
            Some(line) => line.live().await.is_ok(),
            None => false,
        }
    }

    /// Why there is no such tool: the server that was asked for may not be there at all.
    fn not_found(&self, host: &Host, error: &Error) -> CommandError {
        let views = host.servers();
        match &self.only {
            Some(server) if error.kind() == ErrorKind::UnknownTool => {
                self.troubles.missing(self.not_in(server, host), &views)
            }
            _ if error.kind() == ErrorKind::UnknownTool && !self.held_back.is_empty() => {
                self.troubles.not_had(error, &views).hint(format!("servers that are not used: {}", self.held_back))
            }
            _ => self.troubles.not_had(error, &views),
        }
    }

    /// The one server that was asked has no such tool.
    fn not_in(&self, server: &str, host: &Host) -> CommandError {
        let typed = self.arguments.name.as_str();
        let tool = typed.strip_prefix(server).and_then(|rest| rest.strip_prefix("__")).unwrap_or(typed);
        let kind = ErrorKind::UnknownTool.as_str();
        let error = CommandError::new(Ending::Unknown, kind, format!("server `{server}` has no tool `{tool}`"));
        let catalog = host.catalog_now();
        if let Some(reason) = catalog.why_missing(Some(server), tool) {
            return error.saying(format!("`{tool}` of server `{server}` is {reason}"));
        }
        match catalog.nearest(tool).as_slice() {
            [] => error.hint(format!("`toolgate tools {}` lists those it has", as_word(server))),
            names => error.hint(format!("did you mean `{}`?", names.join("`, `"))),
        }
    }

    /// The words over what was given as JSON.
    fn typed_arguments(&self, tool: &CatalogTool) -> Result<RawJson> {
        let schema = tool.input_schema();
        let given = self.given.clone().unwrap_or(RawJson::EMPTY_OBJECT);
        typed::merge(&schema, &given, &self.arguments.words).map_err(|error| {
            let error = CommandError::new(Ending::Usage, ErrorKind::InvalidArguments.as_str(), error.to_string());
            let error = error.about(&tool.id.server).hint(usage(&self.arguments.name, &schema));
            match self.arguments.words.iter().find_map(|word| word.split_once(":=")) {
                // A shell, and the session, take away quotes that are not inside of others.
                Some((key, _)) => error.hint(format!("JSON is quoted, as in {key}:='{{\"a\": 1}}'")),
                None => error,
            }
        })
    }
}

/// Says what is waited for when that takes a while, until the server itself says how far it is.
async fn explain(host: &Host, talk: &Talk, tool: &CatalogTool) -> Infallible {
    let ToolId { server, tool } = &tool.id;
    tokio::time::sleep(UNEXPLAINED_WAIT).await;
    // One that is known from an earlier run is started for the call.
    let is_starting = |view: &ServerView| view.name() == server && view.status == ServerStatus::Connecting;
    while host.servers().iter().any(is_starting) {
        talk.waits(&format!("waiting for {server}, to call {tool}"));
        tokio::time::sleep(UNEXPLAINED_WAIT).await;
    }
    talk.waits_unless_told(&format!("{tool} of {server}"));
    std::future::pending().await
}

/// What stands behind `--args`.
pub(crate) fn given_arguments(args: Option<&str>, session: &Session) -> Result<Option<RawJson>> {
    let Some(args) = args else { return Ok(None) };
    let (from, text) = match args.strip_prefix('@') {
        None if args == "-" => ("stdin".to_owned(), bounded(session.stdin(), "stdin")?),
        None => ("--args".to_owned(), args.to_owned()),
        Some(file) => {
            let path: PathBuf = session.env().workspace.join(file);
            let shown = path.display().to_string();
            let opened = std::fs::File::open(&path);
            let file = opened.map_err(|error| CommandError::usage(format!("cannot read {shown}: {error}")))?;
            (shown.clone(), bounded(file, &shown)?)
        }
    };
    let wrong = |error: typed::ArgumentError| CommandError::usage(format!("{from}: {error}"));
    typed::from_json(&text).map(Some).map_err(wrong)
}

fn bounded(source: impl std::io::Read, name: &str) -> Result<String> {
    let mut text = String::new();
    let read = source.take(ARGUMENTS_BYTES_MAX + 1).read_to_string(&mut text);
    match read {
        // Whoever was to send it wants us to stop.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => Err(CommandError::interrupted()),
        Err(error) => Err(CommandError::usage(format!("cannot read {name}: {error}"))),
        Ok(bytes) if bytes as u64 > ARGUMENTS_BYTES_MAX => {
            Err(CommandError::usage(format!("{name} is larger than {ARGUMENTS_BYTES_MAX} bytes")))
        }
        Ok(_) => Ok(text),
    }
}

/// A call that has ended.
struct Ended<'a> {
    /// What it was called by: `server__tool` stays that, whatever it is shown as when that server is alone.
    name: &'a str,
    tool: &'a CatalogTool,
    arguments: &'a RawJson,
    /// The parsed value of `--args`.
    given: Option<&'a str>,
    outcome: &'a CallOutcome,
    took: Duration,
}

impl Ended<'_> {
    /// Adds a hint: a stdio server that is refused by the service behind it often lacks a variable.
    fn hint_at_env(&self, host: &Host, talk: &Talk) {
        let CallOutcome::ToolError(report) = self.outcome else { return };
        let views = host.servers();
        let config = views.iter().find(|view| *view.name() == self.tool.id.server).map(|view| &view.config);
        if let Some(hint) = config.and_then(|config| env_hint(config, &report.for_display())) {
            talk.line(&format!("{} {}", talk.paint().yellow("hint:"), visible::line(&hint)));
        }
    }

    fn print_text(&self, printer: &mut Printer, raw: bool) -> Result<Ending> {
        let Some(report) = self.outcome.report() else { return Err(self.failure()) };
        if raw {
            printer.raw_result(&for_display::raw(&report.result))?;
        } else {
            if printer.terminal().stdout {
                self.mark(printer)?;
            }
            let result = report.for_display();
            let is_empty = printer.terminal().stdout && result.trim().is_empty();
            printer.result(if is_empty { "(no content)" } else { &result })?;
        }
        Ok(self.ending())
    }

    /// Somebody who looks on sees that a result is an error; a program sees it in the exit code.
    fn mark(&self, printer: &mut Printer) -> Result<()> {
        if matches!(self.outcome, CallOutcome::ToolError(_)) {
            let what = visible::line(&format!(" `{}` of {} failed:", self.name, self.tool.id.server)).into_owned();
            let error = printer.paint().red("error:").to_string();
            printer.line(&format!("{error}{what}"))?;
        }
        Ok(())
    }

    fn print_json(&self, printer: &mut Printer) -> Result<Ending> {
        let ToolId { server, tool } = &self.tool.id;
        let report: Option<&CallReport> = self.outcome.report();
        let failure = if report.is_none() { Some(self.failure()) } else { None };
        let content = report.and_then(|report| report.result.raw.member("content"));
        let content = content.unwrap_or_else(|| serde_json::Value::Array(Vec::new()).into());
        let display = match (report, &failure) {
            (Some(report), _) => report.for_display(),
            (None, failure) => failure.as_ref().map(|failure| failure.message().to_owned()).unwrap_or_default(),
        };
        printer.json(|json| {
            json.object(|object| {
                object.string("name", self.name)?;
                object.string("server", server)?;
                object.string("tool", tool)?;
                object.string("outcome", self.outcome.as_str())?;
                object.flag("isError", !matches!(self.outcome, CallOutcome::Completed(_)))?;
                object.raw("content", Some(&content))?;
                object.raw("structuredContent", report.and_then(|report| report.structured.as_ref()))?;
                object.string("display", &display)?;
                object.number("durationMs", u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX))?;
                match &failure {
                    Some(failure) => object.member("error", |json| failure.write_inner(json)),
                    None => Ok(()),
                }
            })
        })?;
        Ok(failure.map_or_else(|| self.ending(), |failure| failure.ending()))
    }

    fn ending(&self) -> Ending {
        match self.outcome {
            CallOutcome::Completed(_) => Ending::Done,
            CallOutcome::ToolError(_) => Ending::ToolError,
            _ => self.failure().ending(),
        }
    }

    /// Why there is no result.
    fn failure(&self) -> CommandError {
        let name = self.name;
        let error = match self.outcome {
            CallOutcome::Cancelled => CommandError::interrupted().saying(format!("`{name}` was cancelled")),
            CallOutcome::TimedOut { after, idle } => {
                let (what, setting) =
                    if *idle { ("no answer or progress", "timeout") } else { ("no answer", "maxDuration") };
                CommandError::new(Ending::Stopped, "timed_out", format!("`{name}` timed out: {what} within {after:?}"))
                    .hint(format!("`--timeout MS` or `{setting}` of the server gives it more time"))
            }
            CallOutcome::Failed(error) => {
                let known = CommandError::from(error);
                match error.kind() {
                    ErrorKind::InvalidArguments => known.hint(usage(name, &self.tool.input_schema())),
                    ErrorKind::LoginNeeded => {
                        known.hint(format!("run `toolgate mcp auth {}`", as_word(&self.tool.id.server)))
                    }
                    // What could not be recorded was not made, so nothing of the server failed.
                    ErrorKind::InvalidResult | ErrorKind::State => known,
                    _ => known.saying(format!("`{name}` of {} failed: {error}", self.tool.id.server)),
                }
            }
            CallOutcome::Unknown(error) => {
                let server = &self.tool.id.server;
                let words =
                    format!("`{name}` may have been done or not: {server} was lost before it answered: {error}");
                let hint = "look before you call it again; it is not repeated, since doing it twice may not be like doing it once";
                CommandError::new(Ending::Unreachable, "outcome_unknown", words).hint(hint)
            }
            CallOutcome::Denied(verdict) => denied(name, self.arguments, self.given, verdict),
            CallOutcome::Refused { reason } => {
                let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                CommandError::new(Ending::Denied, "refused", format!("`{name}` was not called: you said no{why}"))
            }
            other => {
                CommandError::new(Ending::Denied, "denied", format!("`{name}` was not called: {}", other.as_str()))
            }
        };
        error.about(&self.tool.id.server)
    }
}

/// The arguments as a hint may show them. Arguments from stdin or a file, and arguments that contain a secret, are not repeated.
fn repeated(arguments: &str, given: Option<&str>) -> Option<String> {
    match given {
        Some("-") => Some("-".to_owned()),
        Some(file) if file.starts_with('@') => Some(as_word(file).into_owned()),
        _ if arguments == "{}" || arguments.len() > HINT_ARGUMENTS_BYTES_MAX || arguments.contains(['\'', '\n']) => {
            None
        }
        _ if covered_text(arguments) != arguments => None,
        _ => Some(format!("'{arguments}'")),
    }
}

/// Why the rules forbid a call, and what to do about it.
fn denied(name: &str, arguments: &RawJson, given: Option<&str>, verdict: &Verdict) -> CommandError {
    let mut words = format!("`{name}` was not called: {verdict}");
    words.extend(verdict.deny_message().map(|message| format!("; {message}")));
    let error = CommandError::new(Ending::Denied, "denied", words);
    let error =
        if verdict.asks_nobody() { error.hint("`--yes` answers the question for this one call") } else { error };
    let with = repeated(arguments.as_str(), given).map(|words| format!(" --args {words}")).unwrap_or_default();
    error.hint(format!("`toolgate policy explain {}{with}` shows how that is decided", as_word(name)))
}
