//! `list_directory`: what is in one folder, folders first.

use serde::Deserialize;
use serde_json::json;

use super::{Room, bracketed, told};
use crate::answer::Answer;
use crate::confine::OpenFolder;
use crate::error::{Failure, visible};
use crate::ignored::IgnoreRules;
use crate::jobs::Cancel;
use crate::limits::LIST_ENTRIES_MAX;
use crate::walk::{Kind, Next, Walk};

pub(super) const OFFER: &str = r#"{
"name":"list_directory","title":"List a folder",
"description":"Lists what is in one folder of the workspace: folders first (with a slash at the end), then files with their size in bytes, by name. What .gitignore ignores is left out and counted; links are shown, not followed. `.` is the workspace folder.",
"inputSchema":{"type":"object","properties":{
"path":{"type":"string","description":"The folder, relative to the workspace folder, or absolute inside it or an included folder"}
},"required":["path"],"additionalProperties":false},
"outputSchema":{"type":"object","properties":{
"entries":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string"},
"kind":{"type":"string","enum":["folder","file","link","special"]},
"size":{"type":"integer","description":"Bytes; files only"}},"required":["name","kind"]}},
"ignored":{"type":"integer","description":"Entries left out because of .gitignore"},
"cut":{"type":"integer","description":"Further entries that are not shown"}
},"required":["entries","ignored","cut"]},
"annotations":{"title":"List a folder","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    path: String,
}

struct Entry {
    kind: Kind,
    name: String,
    size: Option<u64>,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let path = room.folders.path("path", &wanted.path)?;
    let OpenFolder { dir: folder, of, place } = room.folders.open_folder("list", &path)?;
    let rules = IgnoreRules::at(of.handle(), &place);
    let mut entries = Vec::new();
    let walk = Walk { start: &folder, place: &place, rules, closed: of.closed(), cancel };
    let missed = walk.run(|found| {
        let about = (found.kind == Kind::File).then(|| found.folder.symlink_metadata(found.name).ok()).flatten();
        let name = found.name.to_string_lossy().into_owned();
        entries.push(Entry { kind: found.kind, name, size: about.map(|about| about.len()) });
        Next::Past
    })?;
    if missed.unopened > 0 {
        return Err(Failure::system("list", path.text(), &std::io::ErrorKind::PermissionDenied.into()));
    }
    entries.sort_by_key(|entry| entry.kind != Kind::Folder);
    let cut = entries.len().saturating_sub(LIST_ENTRIES_MAX);
    entries.truncate(LIST_ENTRIES_MAX);
    let mut notes = Vec::new();
    if entries.is_empty() {
        notes.push("the folder is empty".to_owned());
    }
    if cut > 0 {
        notes.push(format!("{cut} further entries are not shown; find them by name with `glob`"));
    }
    notes.extend(told(&missed));
    let mut lines: Vec<_> = entries.iter().map(Entry::line).collect();
    if !notes.is_empty() {
        lines.push(bracketed(&notes));
    }
    let entries: Vec<_> = entries.iter().map(Entry::data).collect();
    let data = json!({"entries": entries, "ignored": missed.ignored, "cut": cut});
    Ok(Answer::text(lines.join("\n")).structured(data))
}

impl Entry {
    fn line(&self) -> String {
        let name = visible(&self.name);
        match (self.kind, self.size) {
            (Kind::Folder, _) => format!("{name}/"),
            (Kind::File, Some(1)) => format!("{name} (1 byte)"),
            (Kind::File, Some(size)) => format!("{name} ({size} bytes)"),
            (Kind::File, None) => name,
            (Kind::Link, _) => format!("{name} (link)"),
            (Kind::Special, _) => format!("{name} (pipe, socket or device)"),
        }
    }

    fn data(&self) -> serde_json::Value {
        let kind = match self.kind {
            Kind::Folder => "folder",
            Kind::File => "file",
            Kind::Link => "link",
            Kind::Special => "special",
        };
        match self.size {
            Some(size) => json!({"name": self.name, "kind": kind, "size": size}),
            None => json!({"name": self.name, "kind": kind}),
        }
    }
}
