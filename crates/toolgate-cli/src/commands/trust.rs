//! `toolgate trust`: what a folder would start, and whether it may.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use toolgate::HostEnv;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::settings::{self, LoadOptions, Settings};
use toolgate::shape::visible;
use toolgate::trust::{
    DecidedBy, Folder, Rule, Rules, Survey, THIS_RUN_VARIABLE, TrustLevel, confirm, confirm_all, forget, judge,
    remove_rule, set_rule, survey,
};

use crate::columns::table;
use crate::configured::of_broken;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::{JsonWriter, ObjectWriter};
use crate::permission_record::Reason;
use crate::printer::{Form, Printer};
use crate::runtime::client;
use crate::runtime::frames::Wants;
use crate::session::Session;
use crate::similar::did_you_mean;
use crate::survey_text;
use crate::trust_question::{Answer, ask_about_folder, can_ask};

/// See what a folder would start, and decide whether it may
#[derive(Debug, Args)]
#[command(
    after_help = "A folder with settings of its own can start programs. Nothing it brings is used before you trust it, and a
server that changes afterwards is asked about again. On a terminal you are asked. Anywhere else the folder
is only shown, and the command ends with 8; --yes trusts it without a question.

Examples:
  toolgate trust                       the current folder
  toolgate trust ~/src/project --yes   without being asked
  toolgate trust --parent              the folder above, with everything in it
  toolgate trust --entry files         of its servers only this one
  toolgate trust --deny                never, whatever the folders above it are
  toolgate trust --revoke              as if you had not decided
  toolgate trust --list                what you decided so far"
)]
pub(crate) struct Arguments {
    /// The folder; without this the current one
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Trust the folder above it, and everything in that
    #[arg(long, conflicts_with_all = ["deny", "list", "revoke"])]
    parent: bool,
    /// Do not trust it
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    deny: bool,
    /// List what was decided about folders
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    list: bool,
    /// Forget what was decided about it
    #[arg(long)]
    revoke: bool,
    /// Of its servers use only this one; the others wait until they are confirmed (may be repeated)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["parent", "deny", "list", "revoke"])]
    entry: Vec<String>,
    #[command(flatten)]
    reason: Reason,
}

/// Runs the command. It starts nothing.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    if arguments.list {
        return list(session);
    }
    if arguments.revoke {
        return revoke(session, arguments.path.as_deref(), &arguments.reason);
    }
    let looked = Looked::at(session.env(), arguments)?;
    if session.printer.form() == Form::Text {
        for line in survey_text::lines(&looked.survey, looked.folder.path(), session.printer.paint()) {
            session.printer.line(&line)?;
        }
        session.printer.flush()?;
    }
    let can_ask = can_ask(session);
    let answer = match arguments {
        Arguments { deny: true, .. } => Answer::Keep(TrustLevel::Not),
        Arguments { .. } if !can_ask && !session.options().yes => {
            looked.named(&arguments.entry)?;
            return looked.only_shown(session, arguments);
        }
        Arguments { parent: true, .. } => Answer::Keep(TrustLevel::Parent),
        Arguments { entry, .. } if entry.is_empty() && can_ask => {
            let talk = session.printer.talk();
            // The question needs its context on stderr, even when stdout is redirected.
            if !session.printer.terminal().stdout {
                let lines = survey_text::lines(&looked.survey, looked.folder.path(), talk.paint());
                lines.iter().for_each(|line| talk.line(line));
            }
            ask_about_folder(talk, &looked.folder, &looked.survey)?
        }
        Arguments { .. } => Answer::Keep(TrustLevel::Folder),
    };
    let Answer::Keep(level) = answer else {
        session.printer.line("nothing was decided")?;
        return Ok(Ending::Done);
    };
    let before = Rules::read(session.env())?.deciding(looked.folder.path()).map(|rule| rule.level.to_string());
    let kept = looked.keep(level, &arguments.entry)?;
    arguments.reason.record(session, change_of(looked.folder.path(), (before, level), &arguments.entry));
    if level == TrustLevel::Not {
        end_servers(session, looked.folder.path());
    }
    match session.printer.form() {
        Form::Json => session.printer.json(|json| kept.write(json, &looked))?,
        Form::Text => kept.print(&mut session.printer, &looked)?,
    }
    Ok(Ending::Done)
}

/// A decision about a folder, as a change of permissions.
pub(crate) fn change_of(
    folder: &Path,
    (before, after): (Option<String>, TrustLevel),
    entries: &[String],
) -> PermissionChange {
    let kind = if after == TrustLevel::Not { PermissionKind::Distrust } else { PermissionKind::Trust };
    let after = match entries {
        [] => after.to_string(),
        entries => format!("confirmed: {}", entries.join(", ")),
    };
    let change = PermissionChange::new(kind, folder.display().to_string()).after(after);
    before.into_iter().fold(change, PermissionChange::before)
}

/// Has the runtime end what it keeps there. Whoever uses something of it at the moment is the last to do so: the next command is refused.
fn end_servers(session: &Session, folder: &Path) {
    if let Err(error) = client::ask(&session.runtime_place(), Wants::Leave(folder.to_owned())) {
        session.printer.talk().error(&error);
    }
}

/// A folder, looked at from within.
struct Looked {
    env: HostEnv,
    settings: Settings,
    folder: Folder,
    survey: Survey,
}

impl Looked {
    fn at(env: &HostEnv, arguments: &Arguments) -> Result<Self> {
        let path = existing_folder(env, arguments.path.as_deref())?;
        let mut env = HostEnv { workspace: path.into(), ..env.clone() };
        // What is decided here is not for this run alone.
        env.vars.remove(THIS_RUN_VARIABLE);
        let settings = settings::load(&env, &LoadOptions::default());
        // Nobody can agree to what cannot be read; to distrust it nothing needs to be read.
        match settings.broken.first() {
            Some(error) if !arguments.deny => return Err(of_broken(error)),
            _ => {}
        }
        let folder = judge(&env, &settings, None)?;
        let survey = survey(&settings, &folder);
        Ok(Self { env, settings, folder, survey })
    }

    /// Ends a command that could not ask. A folder that is already trusted needs no question.
    fn only_shown(&self, session: &mut Session, arguments: &Arguments) -> Result<Ending> {
        let is_settled = self.folder.is_trusted()
            && matches!(self.folder.by(), DecidedBy::Rule { .. })
            && self.folder.unconfirmed().is_empty()
            && !arguments.parent;
        let error = (!is_settled).then(|| {
            let message = format!("no decision about {}: there is no terminal to ask on", shown(self.folder.path()));
            let error = CommandError::new(Ending::Untrusted, "untrusted", message);
            error.hint("add `--yes` to trust it without a question")
        });
        let ending = error.as_ref().map_or(Ending::Done, CommandError::ending);
        let printer = &mut session.printer;
        match (printer.form(), error) {
            (Form::Json, error) => printer.json(|json| self.write_shown(json, error.as_ref()))?,
            (Form::Text, Some(error)) => return Err(error),
            (Form::Text, None) => printer.line(&format!("already trusted: {}", shown(self.folder.path())))?,
        }
        Ok(ending)
    }

    fn write_shown(&self, json: &mut JsonWriter<'_>, error: Option<&CommandError>) -> std::io::Result<()> {
        json.object(|object| {
            object.string("folder", &self.folder.path().display().to_string())?;
            object.string("trust", self.folder.trust().as_str())?;
            object.string("decidedBy", self.folder.by().as_str())?;
            object.array("unconfirmed", self.folder.unconfirmed(), |json, name| json.string(name))?;
            object.member("brings", |json| json.object(|object| survey_text::write(object, &self.survey)))?;
            match error {
                Some(error) => object.member("error", |json| error.write_inner(json)),
                None => Ok(()),
            }
        })
    }

    /// Writes the decision down. What the folder brings is trusted as it is now.
    fn keep(&self, level: TrustLevel, entries: &[String]) -> Result<Kept> {
        let path = self.folder.path();
        let is_ruled = self.folder.is_trusted() && matches!(self.folder.by(), DecidedBy::Rule { .. });
        let entries = self.named(entries)?;
        // The record comes first: without it a rule would trust whatever the folder has by then.
        if !entries.is_empty() {
            if !is_ruled {
                forget(&self.env, path)?;
            }
            confirm(&self.env, path, &self.settings, &entries)?;
        } else if level != TrustLevel::Not {
            confirm_all(&self.env, path, &self.settings)?;
        }
        let replaced = if is_ruled && !entries.is_empty() { Vec::new() } else { set_rule(&self.env, path, level)? };
        let after = judge(&self.env, &self.settings, None)?;
        Ok(Kept { rule: Rule { path: path.to_owned(), level }, replaced, after })
    }

    /// The servers that were named, all of which must be there.
    fn named(&self, entries: &[String]) -> Result<BTreeSet<String>> {
        let names = || self.survey.servers.iter().map(|server| server.name.as_str());
        for entry in entries {
            if !names().any(|name| name == entry) {
                let message = format!("{} brings no server `{entry}`", self.folder.path().display());
                let error = CommandError::new(Ending::Unknown, "unknown_server", message).about(entry);
                return Err(did_you_mean(entry, names()).into_iter().fold(error, CommandError::hint));
            }
        }
        Ok(entries.iter().cloned().collect())
    }
}

/// What was written down, and what that comes to.
struct Kept {
    rule: Rule,
    replaced: Vec<Rule>,
    after: Folder,
}

impl Kept {
    fn print(&self, printer: &mut Printer, looked: &Looked) -> Result<()> {
        let about = self.rule.folder();
        let (mark, verdict) = match self.rule.level {
            TrustLevel::Folder => (printer.paint().green("trusted:").to_string(), shown(&about)),
            TrustLevel::Parent => {
                (printer.paint().green("trusted:").to_string(), format!("{} and everything in it", shown(&about)))
            }
            TrustLevel::Not => (printer.paint().yellow("not trusted:").to_string(), shown(&about)),
        };
        printer.line(&format!("{mark} {verdict}"))?;
        for rule in &self.replaced {
            printer.line(&format!("  in place of {} for {}", rule.level, shown(&rule.path)))?;
        }
        for name in self.after.unconfirmed() {
            printer.line(&format!("  server {} still waits to be confirmed", visible::line(name)))?;
        }
        printer.flush()?;
        let talk = printer.talk();
        let home = looked.env.dirs.home.as_deref();
        if self.rule.level != TrustLevel::Not && home.is_some_and(|home| home.starts_with(&about)) {
            let label = talk.paint().yellow("warning:");
            talk.line(&format!("{label} your home is in it: whatever is downloaded there is trusted now"));
        }
        if let Some(who) = other_authority(self.after.by()) {
            talk.line(&format!("{} this counts later; for now {who}", talk.paint().yellow("note:")));
        }
        Ok(())
    }

    fn write(&self, json: &mut JsonWriter<'_>, looked: &Looked) -> std::io::Result<()> {
        json.object(|object| {
            object.string("folder", &self.after.path().display().to_string())?;
            object.string("trust", self.after.trust().as_str())?;
            object.string("decidedBy", self.after.by().as_str())?;
            object.member("rule", |json| write_rule(json, &self.rule))?;
            object.array("replaced", &self.replaced, write_rule)?;
            object.array("unconfirmed", self.after.unconfirmed(), |json, name| json.string(name))?;
            object.member("brings", |json| json.object(|object| survey_text::write(object, &looked.survey)))
        })
    }
}

/// Who decides in place of the rules, whatever they say.
const fn other_authority(by: &DecidedBy) -> Option<&'static str> {
    match by {
        DecidedBy::SwitchedOff => Some("all folders are trusted, because `security.folderTrust.enabled` is false"),
        DecidedBy::Editor => Some("the editor around it decides"),
        DecidedBy::ThisRun | DecidedBy::NothingBrought | DecidedBy::Rule { .. } | DecidedBy::Nobody => None,
    }
}

fn existing_folder(env: &HostEnv, path: Option<&Path>) -> Result<PathBuf> {
    let path = path.map_or_else(|| env.workspace.to_path_buf(), |path| env.workspace.join(path));
    let wrong = |why: &str| CommandError::usage(format!("{} {why}", path.display()));
    match std::fs::canonicalize(&path) {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(wrong("is not a folder").hint("name the folder that it is in")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(wrong("does not exist")),
        Err(error) => Err(wrong(&format!("cannot be looked at: {error}"))),
    }
}

fn revoke(session: &mut Session, path: Option<&Path>, reason: &Reason) -> Result<Ending> {
    let env = session.env();
    let rules = Rules::read(env)?;
    let written = path.map_or_else(|| env.workspace.to_path_buf(), |path| env.workspace.join(path));
    // A folder that is gone may still have a rule.
    let exact = rules.all().iter().find(|rule| rule.path == written);
    let folder = match existing_folder(env, path) {
        Ok(folder) => folder,
        Err(_) if exact.is_some() => written,
        Err(error) => return Err(error),
    };
    let deciding = rules.deciding(&folder);
    let is_about_it = |rule: &&Rule| rule.folder() == folder || rule.path == folder;
    if let Some(other) = deciding.filter(|rule| !is_about_it(rule)) {
        let message = format!(
            "no rule is about {}; it is {} for {} that decides",
            shown(&folder),
            other.level,
            shown(&other.path)
        );
        let error = CommandError::new(Ending::Unknown, "unknown_rule", message);
        return Err(error.hint(format!("`toolgate trust --revoke {}` forgets that one", shown(&other.path))));
    }
    let removed = deciding.cloned();
    if let Some(rule) = &removed {
        remove_rule(env, &rule.path)?;
        forget(env, &folder)?;
        let change = PermissionChange::new(PermissionKind::TrustRevoked, rule.folder().display().to_string());
        reason.record(session, change.before(rule.level.as_str()));
        end_servers(session, &rule.folder());
    }
    let left = Rules::read(env)?.deciding(&folder).cloned();
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.string("folder", &folder.display().to_string())?;
                optional_rule(object, "removed", removed.as_ref())?;
                optional_rule(object, "rule", left.as_ref())
            })
        })?;
        return Ok(Ending::Done);
    }
    match &removed {
        Some(rule) => printer.line(&format!("forgotten: {} for {}", rule.level, shown(&rule.path)))?,
        None => printer.line(&format!("nothing was decided about {}", shown(&folder)))?,
    }
    if let Some(rule) = left {
        printer.line(&format!("now {} for {} decides about it", rule.level, shown(&rule.path)))?;
    }
    Ok(Ending::Done)
}

fn list(session: &mut Session) -> Result<Ending> {
    let rules = Rules::read(session.env())?;
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.string("file", &rules.file().display().to_string())?;
                object.array("rules", rules.all(), write_rule)
            })
        })?;
        return Ok(Ending::Done);
    }
    if rules.all().is_empty() {
        printer.talk().line("nothing has been decided about any folder");
        return Ok(Ending::Done);
    }
    let row = |rule: &Rule| vec![rule.level.to_string(), shown(&rule.folder()), shown(&rule.path)];
    let rows = rules.all().iter().map(row).collect();
    for line in table(&["RULE", "FOLDER", "MADE FOR"], rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    Ok(Ending::Done)
}

fn optional_rule(object: &mut ObjectWriter<'_>, key: &'static str, rule: Option<&Rule>) -> std::io::Result<()> {
    object.member(key, |json| match rule {
        Some(rule) => write_rule(json, rule),
        None => json.null(),
    })
}

fn write_rule(json: &mut JsonWriter<'_>, rule: &Rule) -> std::io::Result<()> {
    json.object(|object| {
        object.string("path", &rule.path.display().to_string())?;
        object.string("level", rule.level.as_str())?;
        object.string("folder", &rule.folder().display().to_string())
    })
}

fn shown(path: &Path) -> String {
    visible::line(&path.display().to_string()).into_owned()
}
