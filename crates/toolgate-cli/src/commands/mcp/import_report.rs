//! What an import would do or has done, for people and for programs.

use std::io;
use std::path::Path;

use toolgate::formats::{Note, NoteKind};
use toolgate::servers::written_target;
use toolgate::settings::edit::Json;
use toolgate::shape::visible;

use crate::columns::{cut, filled, width};
use crate::commands::mcp::import_files::Source;
use crate::commands::mcp::import_plan::{Action, Line};
use crate::commands::mcp::import_taken::Taken;
use crate::error::CommandError;
use crate::json::{JsonWriter, ObjectWriter};
use crate::printer::Printer;

/// Names longer than this push what is said about them to the right.
const NAME_COLUMNS_MAX: usize = 40;

/// Command lines are longer than anybody reads in a list.
const TARGET_COLUMNS_MAX: usize = 120;

/// What an import came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome<'a> {
    /// The settings file.
    pub(crate) file: &'a Path,
    /// Whether something was written into it.
    pub(crate) written: bool,
    /// The files that were read.
    pub(crate) sources: &'a [Source],
    /// Files that could not be.
    pub(crate) failures: &'a [CommandError],
}

/// Prints every entry, by file.
pub(crate) fn print(printer: &mut Printer, lines: &[Line<'_>]) -> io::Result<()> {
    let columns = lines.iter().map(|line| width(&visible::line(line.name))).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let mut file = None;
    for line in lines {
        if file != Some(&line.source.path) {
            if file.is_some() {
                printer.line("")?;
            }
            file = Some(&line.source.path);
            heading(printer, line)?;
        }
        print_line(printer, line, columns)?;
    }
    Ok(())
}

fn heading(printer: &mut Printer, line: &Line<'_>) -> io::Result<()> {
    let paint = printer.paint();
    let path = line.source.path.display().to_string();
    let title = line.source.imported.format.title();
    printer.line(&format!("{}  {}", paint.bold(title), paint.dim(visible::line(&path))))?;
    for note in &line.source.imported.notes {
        print_note(printer, "  ", note)?;
    }
    Ok(())
}

/// Prints the restrictions that are imported, and those that are not.
pub(crate) fn print_taken(printer: &mut Printer, taken: &Taken) -> io::Result<()> {
    let paint = printer.paint();
    let add = paint.green("+").to_string();
    let same = "=".to_owned();
    let mut rows: Vec<(String, String)> = Vec::new();
    for key in &taken.keys {
        let value = key.value().map_or_else(|| key.entries().join(", "), word_of);
        rows.push((add.clone(), format!("{}: {value}", key.key)));
    }
    for policy in &taken.policies {
        let mark = if policy.is_there { &same } else { &add };
        rows.push((mark.clone(), format!("policy {} from {}", policy.to.display(), policy.from.display())));
    }
    for folder in &taken.folders {
        rows.push((add.clone(), format!("{} for {}", folder.level, folder.path.display())));
    }
    if !rows.is_empty() || !taken.lost.is_empty() || !taken.noted.is_empty() {
        printer.line("")?;
        printer.line(&paint.bold("Restrictions").to_string())?;
    }
    for (mark, text) in rows {
        printer.line(&format!("  {mark} {}", visible::line(&text)))?;
    }
    for lost in &taken.lost {
        printer.line(&format!("  {} {}", paint.yellow("not carried over:"), visible::line(lost)))?;
    }
    for note in &taken.noted {
        printer.line(&format!("  {} {}", paint.dim("note:"), visible::line(note)))?;
    }
    Ok(())
}

/// A switch or a word, as it is read aloud.
fn word_of(value: &Json) -> String {
    match value {
        Json::Text(text) => text.clone(),
        Json::Bool(is_on) => is_on.to_string(),
        _ => String::new(),
    }
}

fn print_line(printer: &mut Printer, line: &Line<'_>, columns: usize) -> io::Result<()> {
    let paint = printer.paint();
    let mark = match line.action {
        Action::Add => paint.green("+").to_string(),
        Action::Replace => paint.yellow("~").to_string(),
        Action::Same => "=".to_owned(),
        Action::Unusable(_) => paint.red("✗").to_string(),
        Action::Exists | Action::Twice | Action::Disabled | Action::Elsewhere => "-".to_owned(),
    };
    let target = line.server.and_then(|one| written_target(&one.server)).map(|one| one.target).unwrap_or_default();
    let about = match &line.action {
        Action::Add => target,
        Action::Replace => format!("{target} (in place of the one you have)"),
        Action::Same => "is there already".to_owned(),
        Action::Exists => format!("{target}: you have another server of that name; `--replace` takes this one"),
        Action::Twice => format!("{target}: a server of that name comes from another place"),
        Action::Disabled => format!("{target}: switched off there; `--only` takes it all the same"),
        Action::Elsewhere => {
            let folder = line.server.and_then(|one| one.project.as_ref()).map(|folder| folder.display().to_string());
            format!("{target}: for {} only; `--only` takes it all the same", folder.unwrap_or_default())
        }
        Action::Unusable(why) => why.clone(),
    };
    let name = filled(&visible::line(line.name), columns);
    printer.line(format!("  {mark} {name}  {}", cut(&visible::line(&about), TARGET_COLUMNS_MAX)).trim_end())?;
    if line.action.writes() {
        if line.server.is_some_and(|one| one.server.trust.is_some_and(|trust| trust.value)) {
            let label = paint.yellow("trusted:");
            printer.line(&format!("      {label} all its tools may run without a question"))?;
        }
        for note in line.server.iter().flat_map(|one| &one.notes) {
            print_note(printer, "      ", note)?;
        }
        for key in &line.secrets {
            let label = paint.yellow("secret:");
            printer.line(&format!("      {label} {}: {}", visible::line(key), SECRET_ADVICE))?;
        }
    }
    Ok(())
}

const SECRET_ADVICE: &str =
    "looks like a secret in plain text; better keep it in the keychain and write `${keychain:NAME}` here";

fn print_note(printer: &mut Printer, indent: &str, note: &Note) -> io::Result<()> {
    let paint = printer.paint();
    let label = match note.kind {
        NoteKind::Lost => paint.yellow("not carried over:"),
        NoteKind::Changed => paint.dim("note:"),
    };
    printer.line(&format!("{indent}{label} {}", visible::line(&note.to_string())))
}

/// One object for programs.
pub(crate) fn write(
    json: &mut JsonWriter<'_>,
    lines: &[Line<'_>],
    taken: &Taken,
    outcome: Outcome<'_>,
) -> io::Result<()> {
    json.object(|object| {
        object.string("file", &outcome.file.display().to_string())?;
        object.flag("written", outcome.written)?;
        object.array("servers", lines, write_line)?;
        if !taken.is_empty() {
            object.member("restrictions", |json| json.object(|object| write_taken(object, taken)))?;
        }
        notes(object, outcome.sources.iter().flat_map(|source| &source.imported.notes))?;
        object.array("errors", outcome.failures, |json, error| error.write_inner(json))
    })
}

fn write_taken(object: &mut ObjectWriter<'_>, taken: &Taken) -> io::Result<()> {
    object.array("keys", &taken.keys, |json, key| {
        json.object(|object| {
            object.string("key", key.key)?;
            object.array("entries", key.entries(), |json, entry| json.string(entry))?;
            object.optional_string("value", key.value().map(word_of).as_deref())
        })
    })?;
    object.array("policies", &taken.policies, |json, policy| {
        json.object(|object| {
            object.string("from", &policy.from.display().to_string())?;
            object.string("file", &policy.to.display().to_string())?;
            object.string("action", if policy.is_there { "same" } else { "add" })
        })
    })?;
    object.array("folders", &taken.folders, |json, folder| {
        json.object(|object| {
            object.string("folder", &folder.path.display().to_string())?;
            object.string("level", folder.level.as_str())
        })
    })?;
    object.array("lost", &taken.lost, |json, lost| json.string(lost))?;
    object.array("notes", &taken.noted, |json, note| json.string(note))
}

fn write_line(json: &mut JsonWriter<'_>, line: &Line<'_>) -> io::Result<()> {
    let target = line.server.and_then(|one| written_target(&one.server));
    let reason = if let Action::Unusable(why) = &line.action { Some(why.as_str()) } else { None };
    json.object(|object| {
        object.string("name", line.name)?;
        object.string("action", line.action.as_str())?;
        object.optional_string("transport", target.as_ref().map(|target| target.transport))?;
        object.optional_string("target", target.as_ref().map(|target| target.target.as_str()))?;
        object.string("from", line.source.imported.format.as_str())?;
        object.string("source", &format!("{}:{}", line.source.path.display(), line.line))?;
        object.optional_string("reason", reason)?;
        notes(object, line.server.iter().flat_map(|one| &one.notes))?;
        object.array("secrets", &line.secrets, |json, key| json.string(key))
    })
}

/// `"notes": […]`, the same for what is read and what is written.
pub(crate) fn notes<'n>(object: &mut ObjectWriter<'_>, notes: impl IntoIterator<Item = &'n Note>) -> io::Result<()> {
    object.array("notes", notes, |json, note| {
        json.object(|object| {
            object.string("kind", note.kind.as_str())?;
            object.string("key", &note.key)?;
            object.string("message", &note.message)
        })
    })
}
