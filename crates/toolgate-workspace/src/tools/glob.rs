//! `glob`: files by a pattern of their path. `FilePattern` is also what `search_file_content` takes as `include`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::json;

use super::{Room, bracketed, line_of, told};
use crate::answer::Answer;
use crate::confine::OpenFolder;
use crate::error::{Failure, shown};
use crate::ignored::IgnoreRules;
use crate::jobs::Cancel;
use crate::limits::{GLOB_FILES_MAX, PATTERN_BYTES_MAX};
use crate::path_text;
use crate::walk::{Found, Kind, Next, Walk};

pub(super) const OFFER: &str = r#"{
"name":"glob","title":"Find files by name",
"description":"Finds files of the workspace whose path fits a pattern: `*` and `?` within a name, `**` over folders, `[a-z]`, `{a,b}`. `*.rs` looks only in the folder itself, `**/*.rs` also below. Paths come sorted and relative to the workspace folder (absolute in an included folder), at most 1000. What .gitignore ignores is left out; links are shown, not followed.",
"inputSchema":{"type":"object","properties":{
"pattern":{"type":"string","description":"The pattern, relative to `path`; it cannot contain `..`"},
"path":{"type":"string","description":"The folder to start in, relative to the workspace folder, or absolute inside it or an included folder (default: the workspace folder)"}
},"required":["pattern"],"additionalProperties":false},
"outputSchema":{"type":"object","properties":{
"files":{"type":"array","items":{"type":"string"}},
"found":{"type":"integer","description":"How many files fit, shown or not"},
"ignored":{"type":"integer","description":"Entries left out because of .gitignore"},
"complete":{"type":"boolean","description":"Whether everything was looked at and is shown"}
},"required":["files","found","ignored","complete"]},
"annotations":{"title":"Find files by name","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    pattern: String,
    path: Option<String>,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let (pattern, start) = inside(room, wanted)?;
    let pattern = FilePattern::read("pattern", &pattern)?;
    let path = room.folders.path("path", &start)?;
    let OpenFolder { dir: folder, of, place } = room.folders.open_folder("search", &path)?;
    let rules = IgnoreRules::at(of.handle(), &place);
    let mut files: Vec<PathBuf> = Vec::new();
    let mut found = 0_usize;
    let walk = Walk { start: &folder, place: &place, rules, closed: of.closed(), cancel };
    let missed = walk.run(|entry| {
        if entry.kind == Kind::Folder {
            return if pattern.may_enter(entry) { Next::On } else { Next::Past };
        }
        if pattern.fits(entry.path.strip_prefix(&place).unwrap_or(entry.path)) {
            found += 1;
            if files.len() < GLOB_FILES_MAX {
                files.push(room.folders.shown(of, entry.path));
            }
        }
        Next::On
    })?;
    let mut notes = Vec::new();
    if found == 0 {
        let hint = if pattern.has_slash { "" } else { "; to look in folders below too, begin the pattern with `**/`" };
        notes.push(format!("no file fits{hint}"));
    }
    if found > files.len() {
        notes.push(format!(
            "{} of {found} files are shown; make the pattern narrower or name a folder in `path`",
            files.len()
        ));
    }
    if files.iter().any(|path| path.to_str().is_none()) {
        notes.push("names that are not UTF-8 are shown with \u{fffd}; reach them with `run_shell_command`".to_owned());
    }
    notes.extend(told(&missed));
    let mut lines: Vec<_> = files.iter().map(|path| line_of(path)).collect();
    if !notes.is_empty() {
        lines.push(bracketed(&notes));
    }
    let complete = !missed.too_many && missed.unopened == 0 && found == files.len();
    let files: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
    let data = json!({"files": files, "found": found, "ignored": missed.ignored, "complete": complete});
    Ok(Answer::text(lines.join("\n")).structured(data))
}

/// The pattern relative to the folder to start in; an absolute pattern starts at the one of the folders that it is in.
fn inside(room: &Room, wanted: &Wanted) -> Result<(String, String), Failure> {
    let pattern = Path::new(&wanted.pattern);
    let start = wanted.path.as_deref();
    if !pattern.is_absolute() {
        return Ok((wanted.pattern.clone(), start.unwrap_or(".").to_owned()));
    }
    let (folder, below) = room.folders.split(pattern)?;
    if start.is_some() {
        return Err(Failure::new("`pattern` is absolute, so `path` has no meaning; leave one of them out"));
    }
    Ok((below, folder))
}

/// A pattern for paths relative to the folder where the search starts.
#[derive(Debug)]
pub(super) struct FilePattern {
    matcher: GlobMatcher,
    /// The folders that the pattern names without any `*`: nothing else has to be entered.
    named: Vec<OsString>,
    has_slash: bool,
}

impl FilePattern {
    /// Reads the argument `what`.
    pub(super) fn read(what: &str, text: &str) -> Result<Self, Failure> {
        let refuse = |why: String| Failure::new(format!("`{what}` is `{}`: {why}", shown(text)));
        let text = text.trim_start_matches("./");
        if text.is_empty() {
            return Err(Failure::new(format!("`{what}` is empty; for example `**/*.rs` finds all files of that kind")));
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err(refuse(format!(
                "it has {} bytes, more than a pattern may have (limit PATTERN_BYTES_MAX = {PATTERN_BYTES_MAX})",
                text.len()
            )));
        }
        if text.starts_with('/') || text.starts_with('~') || text.contains("://") || path_text::has_parent(text) {
            return Err(refuse(
                "it leads out of the workspace; write it relative to the folder, without `..`".to_owned(),
            ));
        }
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob =
            glob.map_err(|error| refuse(format!("this is not a pattern: {}", shown(&error.kind().to_string()))))?;
        let (folders, _) = text.rsplit_once('/').unwrap_or_default();
        let is_plain = |part: &&str| !part.is_empty() && !part.contains(['*', '?', '[', ']', '{', '}', ',', '\\']);
        // A brace may reach over slashes, so that no part of the pattern can be taken for itself.
        let is_split = !text.contains('{');
        let named = folders.split('/').take_while(is_plain).filter(|_| is_split).map(OsString::from).collect();
        Ok(Self { matcher: glob.compile_matcher(), named, has_slash: text.contains('/') })
    }

    /// Whether a path fits as a whole.
    pub(super) fn fits(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }

    /// Whether a file fits by its path, or by its name alone when the pattern speaks of no folder.
    pub(super) fn includes(&self, path: &Path) -> bool {
        match path.file_name() {
            Some(name) if !self.has_slash => self.fits(Path::new(name)),
            _ => self.fits(path),
        }
    }

    /// Whether anything that fits can be in this folder.
    fn may_enter(&self, folder: &Found<'_>) -> bool {
        self.named.get(folder.depth).is_none_or(|name| name == folder.name)
    }
}
