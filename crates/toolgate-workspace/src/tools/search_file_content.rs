//! `search_file_content`: lines that a regular expression fits, over files that are opened through their folder's handle.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::fs::{File, Metadata};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::glob::FilePattern;
use super::searched_file::{Measure, SearchedFile};
use super::{Room, bracketed, counted, line_of, told};
use crate::answer::Answer;
use crate::confine::{OpenFolder, open_entry};
use crate::error::{Failure, shown, visible};
use crate::ignored::IgnoreRules;
use crate::jobs::Cancel;
use crate::limits::{
    PATTERN_BYTES_MAX, SEARCH_CACHE_BYTES_MAX, SEARCH_FILE_BYTES_MAX, SEARCH_HEAP_BYTES_MAX,
    SEARCH_LARGE_PATTERN_LINE_BYTES_MAX, SEARCH_LINE_BYTES_MAX, SEARCH_LINE_CHARS, SEARCH_MATCHES_MAX, SEARCH_MS_MAX,
    SEARCH_PATTERN_BYTES_MAX, SEARCH_PIECE_BYTES, SEARCH_SMALL_PATTERN_BYTES, SEARCH_TEXT_BYTES_MAX,
};
use crate::walk::{Kind, Missed, Next, Walk};

pub(super) const OFFER: &str = r#"{
"name":"search_file_content","title":"Search in files",
"description":"Searches the text files of the workspace for a regular expression (Rust syntax, line by line; `(?i)` at its beginning ignores case) and gives `file:line: text` for each line that fits, at most 500; lines are counted from 1. What .gitignore ignores, links, binary files and files over 64 MiB are left out, and of a line over 128 KiB its end; a file that is named in `path` is always searched.",
"inputSchema":{"type":"object","properties":{
"pattern":{"type":"string","description":"The regular expression"},
"path":{"type":"string","description":"The folder or file to search, relative to the workspace folder, or absolute inside it or an included folder (default: the workspace folder)"},
"include":{"type":"string","description":"Only files that fit this glob, such as `*.rs` (by name, in every folder) or `src/**/*.{ts,tsx}` (by path, relative to `path`)"}
},"required":["pattern"],"additionalProperties":false},
"outputSchema":{"type":"object","properties":{
"matches":{"type":"array","items":{"type":"object","properties":{
"path":{"type":"string"},"line":{"type":"integer","description":"Counted from 1"},"text":{"type":"string"}},
"required":["path","line","text"]}},
"files_searched":{"type":"integer"},
"ignored":{"type":"integer","description":"Entries left out because of .gitignore"},
"complete":{"type":"boolean","description":"Whether everything was searched and is shown"}
},"required":["matches","files_searched","ignored","complete"]},
"annotations":{"title":"Search in files","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    pattern: String,
    path: Option<String>,
    include: Option<String>,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let include = wanted.include.as_deref().map(|text| FilePattern::read("include", text)).transpose()?;
    let mut search = Search::new(&wanted.pattern, cancel)?;
    let path = room.folders.path("path", wanted.path.as_deref().unwrap_or("."))?;
    let Ok(OpenFolder { dir: folder, of, place }) = room.folders.open_folder("search", &path) else {
        let (file, about) = room.folders.open_file(&path)?;
        if include.is_none_or(|include| include.includes(path.relative())) {
            search.file(file, &about, &room.folders.shown_path(&path));
        }
        cancel.check()?;
        return Ok(search.answer(&Missed::default()));
    };
    let rules = IgnoreRules::at(of.handle(), &place);
    let walk = Walk { start: &folder, place: &place, rules, closed: of.closed(), cancel };
    let missed = walk.run(|entry| {
        let below = entry.path.strip_prefix(&place).unwrap_or(entry.path);
        if entry.kind != Kind::File || include.as_ref().is_some_and(|include| !include.includes(below)) {
            return Next::On;
        }
        match open_entry(entry.folder, entry.name) {
            Some((file, about)) => search.file(file, &about, &room.folders.shown(of, entry.path)),
            None => search.unread += 1,
        }
        if search.hits.is_full || search.is_late() { Next::Stop } else { Next::On }
    })?;
    Ok(search.answer(&missed))
}

/// A search under way.
struct Search<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    measure: Measure,
    cancel: &'a Cancel,
    hits: Hits,
    searched: usize,
    /// Files of which only the beginnings of long lines were searched.
    shortened: usize,
    binary: usize,
    too_large: usize,
    unread: usize,
}

/// What was found.
#[derive(Default)]
struct Hits {
    lines: Vec<String>,
    data: Vec<Value>,
    bytes: usize,
    /// As much was found as can be shown.
    is_full: bool,
}

impl<'a> Search<'a> {
    fn new(pattern: &str, cancel: &'a Cancel) -> Result<Self, Failure> {
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
            return Err(Failure::new(format!(
                "`pattern` has {} bytes; a regular expression has from 1 to {PATTERN_BYTES_MAX} (limit PATTERN_BYTES_MAX)",
                pattern.len()
            )));
        }
        let (matcher, line_bytes) = match matcher(pattern, SEARCH_SMALL_PATTERN_BYTES) {
            Ok(small) => (small, SEARCH_LINE_BYTES_MAX),
            Err(_) => (
                matcher(pattern, SEARCH_PATTERN_BYTES_MAX).map_err(|error| no_pattern(&error))?,
                SEARCH_LARGE_PATTERN_LINE_BYTES_MAX,
            ),
        };
        let until = Instant::now() + Duration::from_millis(SEARCH_MS_MAX);
        let measure = Measure { line_bytes, piece_bytes: SEARCH_PIECE_BYTES.min(line_bytes), until };
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(SEARCH_HEAP_BYTES_MAX))
            .build();
        let hits = Hits::default();
        let (searched, shortened, binary, too_large, unread) = (0, 0, 0, 0, 0);
        Ok(Self { matcher, searcher, measure, cancel, hits, searched, shortened, binary, too_large, unread })
    }

    /// Whether the deadline has passed.
    fn is_late(&self) -> bool {
        Instant::now() >= self.measure.until
    }

    fn file(&mut self, file: File, about: &Metadata, path: &Path) {
        if about.len() > SEARCH_FILE_BYTES_MAX {
            self.too_large += 1;
            return;
        }
        let line_bytes = self.measure.line_bytes;
        let mut in_file = InFile { path, hits: &mut self.hits, cancel: self.cancel, line_bytes, is_binary: false };
        let mut file = SearchedFile::new(file, self.measure, self.cancel);
        let outcome = self.searcher.search_reader(&self.matcher, &mut file, &mut in_file);
        match outcome {
            Ok(()) if in_file.is_binary => self.binary += 1,
            Ok(()) => self.searched += 1,
            Err(_) => self.unread += 1,
        }
        self.shortened += usize::from(outcome.is_ok() && !in_file.is_binary && file.is_cut);
    }

    fn answer(self, missed: &Missed) -> Answer {
        let mut notes = Vec::new();
        let is_late = self.is_late();
        if self.hits.lines.is_empty() {
            notes.push(format!("no line fits, in {} searched", counted(self.searched, "file", "files").0));
        }
        if self.hits.is_full {
            let shown = self.hits.lines.len();
            notes.push(format!(
                "the search ended after {shown} lines, there may be more; make `pattern` or `include` narrower, or name a folder in `path`"
            ));
        }
        if is_late {
            let seconds = SEARCH_MS_MAX / 1_000;
            notes.push(format!(
                "the search ended after {seconds} s (limit SEARCH_MS_MAX); make `pattern` simpler, or name a folder in `path`"
            ));
        }
        for (count, why) in [
            (self.shortened, "searched in part because a line is too long"),
            (self.binary, "not searched because it is binary"),
            (self.too_large, "not searched because of its size"),
            (self.unread, "not searched because it cannot be read"),
        ] {
            if count > 0 {
                let (count, verb) = counted(count, "file", "files");
                notes.push(format!("{count} {verb} {}", if verb == "was" { why.to_owned() } else { plural(why) }));
            }
        }
        notes.extend(told(missed));
        let skipped = self.too_large + self.unread + self.shortened + missed.unopened;
        let complete = !self.hits.is_full && !is_late && !missed.too_many && skipped == 0;
        let data = json!({"matches": self.hits.data, "files_searched": self.searched, "ignored": missed.ignored, "complete": complete});
        let mut lines = self.hits.lines;
        if !notes.is_empty() {
            lines.push(bracketed(&notes));
        }
        Answer::text(lines.join("\n")).structured(data)
    }
}

/// A regular expression for single lines, with bounded memory.
fn matcher(pattern: &str, bytes_max: usize) -> Result<RegexMatcher, grep_regex::Error> {
    // `$` also matches before `\r\n`, but the searcher ends lines at `\n`.
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).line_terminator(Some(b'\n'));
    builder.size_limit(bytes_max).dfa_size_limit(SEARCH_CACHE_BYTES_MAX);
    builder.build(pattern)
}

/// The failure for an invalid pattern, with the reason from the engine.
fn no_pattern(error: &grep_regex::Error) -> Failure {
    // The last line of the message has the reason; the lines above mark the place.
    let why = error.to_string();
    if why.contains("exceeds size limit") {
        return Failure::new(format!(
            "`pattern` takes more than {SEARCH_PATTERN_BYTES_MAX} bytes when it is compiled (limit SEARCH_PATTERN_BYTES_MAX); repeat less in it, and use `[a-z]` or `(?-u:\\w)` where `\\w` is repeated"
        ));
    }
    let why = shown(why.lines().last().unwrap_or_default());
    Failure::new(format!(
        "`pattern` is not a regular expression that works line by line: {why}; to search for the characters themselves, put `\\` before each of .*+?()[]{{}}|^$"
    ))
}

fn plural(why: &str) -> String {
    why.replace("it is", "they are").replace("its size", "their size").replace("it cannot", "they cannot")
}

/// Takes what is found in one file.
struct InFile<'a> {
    path: &'a Path,
    hits: &'a mut Hits,
    cancel: &'a Cancel,
    /// The longest line that is searched to its end.
    line_bytes: usize,
    is_binary: bool,
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.line_number().unwrap_or_default();
        let text = String::from_utf8_lossy(found.bytes());
        let text = text.trim_end_matches(['\r', '\n']);
        let text = shortened(text, found.bytes().len() > self.line_bytes);
        let shown = format!("{}:{line}: {}", line_of(self.path), visible_but_tabs(&text));
        self.hits.bytes += shown.len();
        if self.hits.lines.len() == SEARCH_MATCHES_MAX || self.hits.bytes > SEARCH_TEXT_BYTES_MAX {
            self.hits.is_full = true;
            return Ok(false);
        }
        self.hits.lines.push(shown);
        self.hits.data.push(json!({"path": self.path.to_string_lossy(), "line": line, "text": text}));
        Ok(!self.cancel.is_cancelled())
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.is_binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

fn visible_but_tabs(text: &str) -> String {
    text.split('\t').map(visible).collect::<Vec<_>>().join("\t")
}

/// A line of bounded length, with a note where it was cut. `has_more` when its end was not read.
fn shortened(line: &str, has_more: bool) -> String {
    match line.char_indices().nth(SEARCH_LINE_CHARS) {
        Some((end, _)) => {
            let kept = line.get(..end).unwrap_or(line);
            let least = if has_more { "at least " } else { "" };
            format!("{kept}… [{least}{} more bytes]", line.len() - kept.len())
        }
        None => line.to_owned(),
    }
}
