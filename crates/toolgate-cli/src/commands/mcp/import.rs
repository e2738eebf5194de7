//! `toolgate mcp import`: the servers of other clients into your settings.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use toolgate::formats::{Format, entry};
use toolgate::settings::SettingsSource;
use toolgate::settings::edit::{EditError, has, set};
use toolgate::settings::read::read_file;
use toolgate::shape::visible;

use crate::commands::mcp::import_beside::write_beside;
use crate::commands::mcp::import_files::{Found, Source, in_usual_places, is_of_folder, named, text_of};
use crate::commands::mcp::import_plan::{Action, Existing, Line, Wishes, plan};
use crate::commands::mcp::import_report::{self, Outcome};
use crate::commands::mcp::import_taken::Taken;
use crate::commands::mcp::import_there::switched_off;
use crate::commands::mcp::scope::{Scope, Target};
use crate::commands::mcp::written::Written;
use crate::configured::of_broken;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::prompt::Prompt;
use crate::question::Asker;
use crate::session::Session;
use crate::similar::did_you_mean;

/// Take over servers from other clients
///
/// Reads the files of Gemini CLI, Claude Desktop, Claude Code, VS Code, Cursor, Codex, goose and Zed, shows what it would add
/// and asks. With servers of Gemini CLI it also takes over the restrictions in its settings. An existing server is changed only with `--replace`.
/// Without a terminal, `--yes` answers the question.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate mcp import                              whatever other clients have
  toolgate mcp import --from cursor --dry-run      what Cursor has, and nothing is written
  toolgate mcp import .vscode/mcp.json -s project  one file, into the settings of this folder"
)]
pub(crate) struct Arguments {
    /// The file; without this the usual places are looked at
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Whose file it is, or whose usual places are looked at
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<Format>,
    /// Into your own settings, or those of this folder; without this, what stands in this folder stays in it
    #[arg(short, long, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// Only this server, even when it is switched off there; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Let servers take the place of those you have
    #[arg(long)]
    replace: bool,
    /// Write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// The formats, by name.
pub(crate) fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::as_str));
    names.try_map(|name| Format::from_name(&name).ok_or("no such format"))
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let target = target(session, arguments)?;
    let mut found = read(session, arguments, &target)?;
    check_names(&arguments.only, &found.sources)?;
    let layer = read_file(&target.path, target.source).map_err(|error| of_broken(&error))?;
    let taken = taken(session, arguments, &target, &mut found)?;
    let existing = Existing::of(layer.as_ref());
    let workspace = &session.env().workspace;
    let wishes = Wishes { only: &arguments.only, replace: arguments.replace, workspace };
    let lines = plan(&found.sources, &existing, wishes);
    let count = lines.iter().filter(|line| line.action.writes()).count();
    if session.printer.form() == Form::Text {
        import_report::print(&mut session.printer, &lines)?;
        import_report::print_taken(&mut session.printer, &taken)?;
        session.printer.flush()?;
    }
    let was_empty = Written::read(session).is_folder_empty(session.env());
    let amount = Amount { servers: count, restricts: taken.writes() };
    let decision = if amount.is_nothing() { Decision::Nothing } else { decide(session, arguments, amount, &target)? };
    let left = match decision {
        Decision::Write => write(session, &target, &lines, &taken, &arguments.reason)?,
        _ => Vec::new(),
    };
    if decision == Decision::Write && target.source == SettingsSource::Workspace {
        let written = lines.iter().filter(|line| line.action.writes() && !left.contains(&line.name));
        let names: Vec<&str> = written.map(|line| line.name).collect();
        let (written, reason) = (Written::read(session), &arguments.reason);
        if was_empty {
            written.vouch_for_all(session, reason)?;
        } else {
            written.vouch_for(session, &names, reason)?;
        }
    }
    let amount = Amount { servers: count - left.len(), ..amount };
    if session.printer.form() == Form::Json {
        let written = decision == Decision::Write && !amount.is_nothing();
        let outcome = Outcome { file: &target.path, written, sources: &found.sources, failures: &found.failures };
        session.printer.json(|json| import_report::write(json, &lines, &taken, outcome))?;
    } else if !lines.is_empty() || !amount.is_nothing() {
        tell(session, &target, (decision, amount), &left);
    }
    Ok(if found.failures.is_empty() { Ending::Done } else { Ending::Usage })
}

/// The settings file that is changed.
fn target(session: &Session, arguments: &Arguments) -> Result<Target> {
    let env = session.env();
    let is_of_folder = arguments.file.as_ref().is_some_and(|file| is_of_folder(&env.workspace.join(file), env));
    let usual = if is_of_folder { Scope::Project } else { Scope::User };
    let scope = if session.options().config.is_some() { arguments.scope } else { arguments.scope.or(Some(usual)) };
    Target::one(session, scope)
}

/// The number of servers and restrictions that an import would write.
#[derive(Clone, Copy, Debug)]
struct Amount {
    servers: usize,
    /// Whether the import contains restrictions.
    restricts: bool,
}

impl Amount {
    const fn is_nothing(self) -> bool {
        self.servers == 0 && !self.restricts
    }

    fn words(self) -> String {
        let servers = counted(self.servers, "server");
        if self.restricts { format!("{servers} and the restrictions above") } else { servers }
    }
}

/// Collects the restrictions that come with servers of Gemini CLI. If any of them is lost, those servers lose `trust`.
fn taken(session: &Session, arguments: &Arguments, target: &Target, found: &mut Found) -> Result<Taken> {
    let text = text_of(&target.path)?.unwrap_or_default();
    let unknown: Vec<String> = found.sources.iter_mut().filter_map(switched_off).collect();
    let mut taken = Taken::of(&found.sources, session.env(), target, &text, &arguments.only);
    taken.lost.extend(unknown);
    if !taken.lost.is_empty() {
        let theirs = found.sources.iter_mut().filter(|source| source.imported.format == Format::GeminiCli);
        theirs.for_each(|source| source.without_trust_for(&taken.lost));
    }
    Ok(taken)
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// There is nothing to write.
    Nothing,
    /// It was only to be shown.
    Show,
    /// Nobody can be asked.
    Unasked,
    /// Write it.
    Write,
}

/// Reads the files. What cannot be read in the usual places is told, and does not keep the others from being read.
fn read(session: &Session, arguments: &Arguments, target: &Target) -> Result<Found> {
    let env = session.env();
    if let Some(file) = &arguments.file {
        let source = named(&env.workspace.join(file), arguments.from)?;
        let (mut found, of_folder) = Found { sources: vec![source], ..Found::default() }.apart(env);
        found.sources.extend(of_folder);
        return Ok(found);
    }
    let (mut found, of_folder) = in_usual_places(env, arguments.from).apart(env);
    if target.source == SettingsSource::Workspace {
        found.sources.splice(0..0, of_folder);
    } else {
        for source in of_folder {
            let file = visible::line(&source.path.display().to_string()).into_owned();
            session.printer.talk().line(&format!(
                "{file} belongs to this folder and is left out; `toolgate mcp import {file}` takes it into the settings of the folder"
            ));
        }
    }
    if session.printer.form() == Form::Text {
        let talk = session.printer.talk();
        found.failures.iter().for_each(|error| talk.error(error));
        if found.sources.is_empty() && found.failures.is_empty() {
            let whose = arguments.from.map_or("another client", Format::title);
            let places = counted(found.looked_for, "place");
            talk.line(&format!("no servers of {whose} were found in {places}; name a file to read that one"));
        }
    }
    Ok(found)
}

/// Every name that was asked for must be in one of the files.
fn check_names(only: &[String], sources: &[Source]) -> Result<()> {
    let names = || {
        sources.iter().flat_map(|source| {
            let servers = source.imported.servers.iter().map(|one| one.name.value.as_str());
            servers.chain(source.imported.left_out.iter().map(|one| one.name.value.as_str()))
        })
    };
    let Some(missing) = only.iter().find(|only| !names().any(|name| name == only.as_str())) else { return Ok(()) };
    let error = CommandError::new(Ending::Unknown, "unknown_server", format!("no file has a server `{missing}`"));
    let error = error.about(missing);
    Err(did_you_mean(missing, names()).into_iter().fold(error, CommandError::hint))
}

fn decide(session: &Session, arguments: &Arguments, amount: Amount, target: &Target) -> Result<Decision> {
    let options = session.options();
    if arguments.dry_run {
        return Ok(Decision::Show);
    }
    if options.yes {
        return Ok(Decision::Write);
    }
    if options.headless || options.json || !session.printer.terminal().can_ask() {
        return Ok(Decision::Unasked);
    }
    let question = format!("Add {} to {}?", amount.words(), target.path.display());
    let (asker, _waiting) = Asker::new();
    let talk = session.printer.talk();
    let prompt = Prompt { asker: &asker, paint: talk.paint() };
    let answer = talk.asking(&asker, || prompt.yes_or_no(&question, Some(false), None));
    match answer {
        Some(Ok(true)) => Ok(Decision::Write),
        _ => Err(CommandError::new(Ending::Denied, "refused", "nothing was imported")),
    }
}

/// Writes the restrictions first, then the server entries, all or none. Returns the names of the entries that another
/// process added meanwhile; they keep their content.
fn write<'a>(
    session: &Session,
    target: &Target,
    lines: &[Line<'a>],
    taken: &Taken,
    reason: &Reason,
) -> Result<Vec<&'a str>> {
    write_beside(session, taken, reason)?;
    let mut left = Vec::new();
    let change = |old: &str| -> std::result::Result<Option<String>, EditError> {
        let mut text = taken.write_keys(old.to_owned())?;
        left.clear();
        for line in lines.iter().filter(|line| line.action.writes()) {
            let Some(server) = line.server else { continue };
            let path = ["mcpServers", line.name];
            if line.action == Action::Add && has(&text, &path)? {
                left.push(line.name);
            } else {
                text = set(&text, &path, &entry(&server.server))?;
            }
        }
        Ok((text != old).then_some(text))
    };
    let names: Vec<&str> = lines.iter().filter(|line| line.action.writes()).map(|line| line.name).collect();
    let subject = format!("MCP servers imported into {}: {}", target.words, names.join(", "));
    reason.edit_settings(session, (target, &subject), change)?;
    Ok(left)
}

fn tell(session: &Session, target: &Target, (decision, amount): (Decision, Amount), left: &[&str]) {
    let talk = session.printer.talk();
    let (servers, file) = (amount.words(), target.path.display());
    match decision {
        Decision::Nothing => talk.line("there is nothing to add"),
        Decision::Show => talk.line(&format!("nothing was written; {servers} would be added to {file}")),
        Decision::Unasked => talk.line(&format!("nothing was written; `--yes` adds {servers} to {file}")),
        Decision::Write => talk.line(&format!("{servers} added to {file}")),
    }
    for name in left {
        let name = visible::line(name);
        talk.line(&format!("{name} was added by somebody else meanwhile, and was left alone"));
    }
}
