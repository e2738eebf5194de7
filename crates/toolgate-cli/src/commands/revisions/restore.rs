//! `toolgate revisions restore`: restores earlier settings and policies, all files or none.

use clap::Args;
use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::revisions::{Restored, Revision, Revisions};
use toolgate::{Setup, SetupOptions};

use super::diff::differences;
use super::{find, short};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// Restore earlier settings and policies
///
/// Restores all files or none. The current state is saved as a revision first, so that you can go back. Grants and trust
/// stay as they are now. `toolgate policy simulate --against ID` shows the impact before you restore.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate revisions restore 3fa9c1
  toolgate revisions restore 3fa9c1 --reason 'the new rules allow too much' --json"
)]
pub(super) struct Arguments {
    /// The id of the revision, from `toolgate revisions list`
    #[arg(value_name = "ID")]
    revision: String,
    #[command(flatten)]
    reason: Reason,
}

pub(super) fn run(session: &mut Session, revisions: &Revisions, arguments: &Arguments) -> Result<Ending> {
    let revision = find(revisions, &arguments.revision)?;
    check(revisions, &revision)?;
    let restored = revisions.restore(&revision.id, arguments.reason.text())?;
    record(session, arguments, &restored);
    let differences = differences(&restored.old, &restored.new);
    let differences: Vec<_> = differences.iter().filter(|one| one.is_of_revision()).collect();
    let before = restored.before.as_ref().map(short);
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("restored", short(&revision))?;
                object.optional_string("before", before)?;
                object.array("files", &differences, |json, one| one.write_short(json))
            })
        })?,
        Form::Text => {
            printer.line(&format!("restored revision {}", short(&revision)))?;
            for one in &differences {
                printer.line(&format!("  {}", one.line()))?;
            }
            match before {
                _ if differences.is_empty() => printer.talk().line("no file was different"),
                Some(before) => printer.talk().line(&format!("undo with `toolgate revisions restore {before}`")),
                None => {}
            }
        }
    }
    Ok(Ending::Done)
}

/// Refuses settings or policies that cannot be read, because they would stop every command.
fn check(revisions: &Revisions, revision: &Revision) -> Result<()> {
    let laid_out = revisions.lay_out(revision)?;
    let setup = Setup::read(&laid_out.env(), &SetupOptions::default())?;
    let of_rules = setup.rulebook().error().map(|error| error.to_string());
    let wrong = setup.settings.broken.first().map(ToString::to_string).or(of_rules);
    let Some(wrong) = wrong else { return Ok(()) };
    // The error must not name the temporary folder, which no longer exists when the message is read.
    let wrong = wrong.replace(&format!("{}/", laid_out.env().dirs.user.display()), "");
    let message = format!("revision {} cannot be used: {wrong}", short(revision));
    Err(CommandError::new(Ending::Usage, "settings", message)
        .hint("choose another revision in `toolgate revisions list`"))
}

fn record(session: &Session, arguments: &Arguments, restored: &Restored) {
    let names = restored.old.files.keys().chain(restored.new.files.keys());
    let names: std::collections::BTreeSet<&String> = names.collect();
    let user = &session.env().dirs.user;
    let changed = names.into_iter().filter_map(|name| {
        let (before, after) = (restored.old.files.get(name), restored.new.files.get(name));
        let file = ChangedFile::of_texts(user.join(name), before.map(String::as_str), after.map(String::as_str));
        (before != after).then_some(file)
    });
    let change = PermissionChange::new(PermissionKind::Restore, format!("revision {}", short(&restored.revision)));
    let change = change.files(changed).after(restored.revision.id.clone());
    let change = restored.before.iter().fold(change, |change, before| change.before(before.id.clone()));
    arguments.reason.record(session, change);
}
