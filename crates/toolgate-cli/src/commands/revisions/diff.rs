//! `toolgate revisions diff`: compares two revisions, or one with the current state.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use similar::TextDiff;
use toolgate::revisions::{Revision, Revisions, Snapshot};
use toolgate::shape::visible;

use super::{find, short};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::printer::{Form, Printer};
use crate::session::Session;

/// Show the differences between two revisions
#[derive(Debug, Args)]
#[command(
    after_help = "Without an id, the newest revision is compared with the one before it. With one id, that revision is compared with the current state.

Examples:
  toolgate revisions diff
  toolgate revisions diff 3fa9c1
  toolgate revisions diff 3fa9c1 77e012 --json"
)]
pub(super) struct Arguments {
    /// The earlier revision
    #[arg(value_name = "ID")]
    from: Option<String>,
    /// The later revision [default: the current state]
    #[arg(value_name = "ID")]
    to: Option<String>,
}

/// A file that differs.
pub(super) struct Difference<'a> {
    name: &'a str,
    change: &'static str,
    is_restored: bool,
    diff: String,
}

pub(super) fn run(session: &mut Session, revisions: &Revisions, arguments: &Arguments) -> Result<Ending> {
    let from = match &arguments.from {
        Some(word) => Some(find(revisions, word)?),
        None => revisions.list()?.into_iter().rev().nth(1),
    };
    let to = arguments.to.as_deref().map(|word| find(revisions, word)).transpose()?;
    let texts = |revision: &Revision| revisions.texts(revision);
    let old = from.as_ref().map(texts).transpose()?.unwrap_or_default();
    let new = to.as_ref().map_or_else(|| revisions.now(), texts)?;
    let differences = differences(&old, &new);
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.optional_string("from", from.as_ref().map(short))?;
                object.optional_string("to", to.as_ref().map(short))?;
                object.array("files", &differences, |json, one| {
                    json.object(|object| {
                        object.string("file", one.name)?;
                        object.string("change", one.change)?;
                        object.flag("restorable", one.is_restored)?;
                        object.string("diff", &one.diff)
                    })
                })
            })
        })?,
        Form::Text if differences.is_empty() => printer.talk().line("nothing differs"),
        Form::Text => print(printer, &differences)?,
    }
    Ok(Ending::Done)
}

/// The files that differ, settings and policies first.
pub(super) fn differences<'a>(old: &'a Snapshot, new: &'a Snapshot) -> Vec<Difference<'a>> {
    let mut differences = of_files(&old.files, &new.files, true);
    differences.extend(of_files(&old.beside, &new.beside, false));
    differences
}

fn of_files<'a>(
    old: &'a BTreeMap<String, String>,
    new: &'a BTreeMap<String, String>,
    is_restored: bool,
) -> Vec<Difference<'a>> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let one = |name: &'a String| {
        let (before, after) = (old.get(name), new.get(name));
        let change = match (before, after) {
            (Some(before), Some(after)) if before == after => return None,
            (Some(_), Some(_)) => "changed",
            (None, _) => "added",
            (Some(_), None) => "removed",
        };
        let text = |text: Option<&'a String>| text.map(String::as_str).unwrap_or_default();
        let diff = TextDiff::from_lines(text(before), text(after)).unified_diff().to_string();
        Some(Difference { name, change, is_restored, diff })
    };
    names.into_iter().filter_map(one).collect()
}

/// Prints the differences.
pub(super) fn print(printer: &mut Printer, differences: &[Difference<'_>]) -> Result<()> {
    let paint = printer.paint();
    for one in differences {
        let note = if one.is_restored { "" } else { " (never restored)" };
        let head = format!("{} {}{note}", one.change, visible::line(one.name));
        printer.line(&paint.bold(head).to_string())?;
        for line in one.diff.lines() {
            let shown = visible::line(line);
            let shown = match line.chars().next() {
                Some('+') => paint.green(shown).to_string(),
                Some('-') => paint.red(shown).to_string(),
                _ => shown.into_owned(),
            };
            printer.line(&shown)?;
        }
    }
    Ok(())
}

impl Difference<'_> {
    /// Whether the file is part of the revision itself.
    pub(super) const fn is_of_revision(&self) -> bool {
        self.is_restored
    }

    /// The kind of change, for JSON.
    pub(super) fn write_short(&self, json: &mut JsonWriter<'_>) -> std::io::Result<()> {
        json.object(|object| {
            object.string("file", self.name)?;
            object.string("change", self.change)
        })
    }

    /// The change as one line.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.change, visible::line(self.name))
    }
}
