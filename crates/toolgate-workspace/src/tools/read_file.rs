//! `read_file`: lines of a text file, or an image. Exactly the bytes of the file as far as they are text; what was cut is said apart.

use std::io::{BufRead, BufReader, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cap_std::fs::File;
use serde::Deserialize;

use super::{Room, bracketed};
use crate::answer::Answer;
use crate::arguments::whole;
use crate::error::{Failure, shown};
use crate::jobs::Cancel;
use crate::limits::{IMAGE_BYTES_MAX, READ_LINES_COUNT, READ_SCAN_BYTES_MAX, READ_TEXT_BYTES_MAX, SNIFF_BYTES};

pub(super) const OFFER: &str = r#"{
"name":"read_file","title":"Read a file",
"description":"Reads a text file of the workspace, or shows an image (PNG, JPEG, GIF, WebP, BMP). Text comes exactly as it is in the file; at most 2000 lines unless `limit` says otherwise, and at most 256 KiB: the answer says what was cut and with which `offset` to read on. SVG is text. Other binary files are refused. Files ignored by .gitignore can be read when they are named.",
"inputSchema":{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace folder, or absolute inside it or an included folder"},
"offset":{"type":"integer","minimum":0,"description":"The first line to read, counted from 0 (default 0)"},
"limit":{"type":"integer","minimum":1,"description":"How many lines to read (default 2000)"}
},"required":["path"],"additionalProperties":false},
"annotations":{"title":"Read a file","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    path: String,
    #[serde(default, deserialize_with = "whole")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    limit: Option<u64>,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let path = room.folders.path("path", &wanted.path)?;
    let (file, metadata) = room.folders.open_file(&path)?;
    if wanted.limit == Some(0) {
        return Err(Failure::new("`limit` is 0, so there is nothing to read; leave it out or give at least 1"));
    }
    let failed = |error: std::io::Error| Failure::system("read", path.text(), &error);
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let start = reader.fill_buf().map_err(failed)?;
    let start = start.get(..SNIFF_BYTES.min(start.len())).unwrap_or(start);
    if let Some(mime_type) = image_type(start) {
        return image(reader, &wanted.path, metadata.len(), mime_type);
    }
    if let Some(why) = not_text(start) {
        let (path, size) = (shown(&wanted.path), metadata.len());
        return Err(Failure::new(format!("`{path}` ({size} bytes) {why}")));
    }
    let range = Range { offset: wanted.offset.unwrap_or(0), limit: wanted.limit.unwrap_or(READ_LINES_COUNT) };
    let excerpt = Excerpt::read(reader, range, cancel).map_err(failed)?;
    cancel.check()?;
    excerpt.answer(&wanted.path, range)
}

/// The type of an image by how it begins.
fn image_type(start: &[u8]) -> Option<&'static str> {
    let webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP".as_slice());
    // `BM` alone may begin a text; the four zero bytes after the size do not.
    let bmp = start.starts_with(b"BM") && start.get(6..10) == Some(&[0; 4]);
    Some(match start {
        _ if start.starts_with(b"\x89PNG\r\n\x1a\n") => "image/png",
        _ if start.starts_with(b"\xff\xd8\xff") => "image/jpeg",
        _ if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") => "image/gif",
        _ if webp => "image/webp",
        _ if bmp => "image/bmp",
        _ => return None,
    })
}

/// Why this is not the beginning of a text.
fn not_text(start: &[u8]) -> Option<&'static str> {
    let utf16 = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    match start {
        _ if utf16 => {
            Some("is text in UTF-16, which is not read; convert it first, for example with `iconv -f UTF-16 -t UTF-8`")
        }
        _ if start.contains(&0) => Some(
            "is a binary file, which is not shown; look at it with a program, for example with `run_shell_command`",
        ),
        _ => None,
    }
}

fn image(reader: BufReader<File>, path: &str, size: u64, mime_type: &str) -> Result<Answer, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(IMAGE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::system("read", path, &error))?;
    if bytes.len() as u64 > IMAGE_BYTES_MAX {
        let path = shown(path);
        return Err(Failure::new(format!(
            "the image `{path}` has {size} bytes, more than can be shown (limit IMAGE_BYTES_MAX = {IMAGE_BYTES_MAX}); make a smaller copy first"
        )));
    }
    Ok(Answer::image(&STANDARD.encode(&bytes), mime_type))
}

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
struct Range {
    offset: u64,
    limit: u64,
}

/// The lines that were found.
#[derive(Debug, Default)]
struct Excerpt {
    text: Vec<u8>,
    /// Where in `text` the line begins that is being read.
    line_start: usize,
    /// Lines in `text`, the last one perhaps only in part.
    shown: u64,
    /// Lines before the one that is being read.
    line: u64,
    /// Whether something was read of that line.
    has_begun: bool,
    /// No further line fits.
    is_full: bool,
    /// The first line alone is longer than what can be shown.
    cut_line: bool,
    /// The file goes on, but we stopped counting.
    uncounted: bool,
}

impl Excerpt {
    fn read(mut reader: impl BufRead, range: Range, cancel: &Cancel) -> std::io::Result<Self> {
        let mut excerpt = Self::default();
        let mut scanned = 0_u64;
        while !cancel.is_cancelled() {
            let chunk = reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(excerpt);
            }
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                excerpt.take(piece, range);
            }
            let size = chunk.len();
            reader.consume(size);
            scanned += size as u64;
            if scanned >= READ_SCAN_BYTES_MAX {
                excerpt.uncounted = true;
                break;
            }
        }
        Ok(excerpt)
    }

    /// A line, or a part of one.
    fn take(&mut self, piece: &[u8], range: Range) {
        let is_wanted = self.line >= range.offset && self.line - range.offset < range.limit;
        if is_wanted && !self.is_full {
            self.keep(piece, self.line - range.offset);
        }
        self.has_begun = !piece.ends_with(b"\n");
        if !self.has_begun {
            self.line += 1;
            self.line_start = self.text.len();
        }
    }

    /// Keeps a piece of the wanted line number `nth`, if it still fits.
    fn keep(&mut self, piece: &[u8], nth: u64) {
        let room = READ_TEXT_BYTES_MAX - self.text.len();
        if piece.len() <= room {
            self.text.extend_from_slice(piece);
            self.shown = nth + 1;
            return;
        }
        self.is_full = true;
        if nth == 0 {
            self.text.extend_from_slice(piece.get(..room).unwrap_or(piece));
            self.shown = 1;
            self.cut_line = true;
        } else {
            self.text.truncate(self.line_start);
            self.shown = nth;
        }
    }

    fn total(&self) -> u64 {
        self.line + u64::from(self.has_begun)
    }

    fn answer(self, path: &str, range: Range) -> Result<Answer, Failure> {
        let (total, path) = (self.total(), shown(path));
        if total == 0 {
            return Ok(Answer::text("[the file is empty]"));
        }
        if range.offset >= total {
            let total = if self.uncounted { format!("more than {total}") } else { total.to_string() };
            return Err(Failure::new(format!(
                "`offset` is {}, but `{path}` has {total} lines within reach (counted from 0); give a smaller one",
                range.offset
            )));
        }
        let notes = self.notes(range);
        let text = match String::from_utf8(self.text) {
            Ok(text) => text,
            Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
        };
        let answer = Answer::text(text);
        Ok(if notes.is_empty() { answer } else { answer.and_text(bracketed(&notes)) })
    }

    fn notes(&self, range: Range) -> Vec<String> {
        let mut notes = Vec::new();
        let (total, end) = (self.total(), range.offset + self.shown);
        if self.shown < total {
            let total = if self.uncounted { format!("more than {total}") } else { total.to_string() };
            let last = end.saturating_sub(1);
            notes.push(format!("these are the lines {} to {last} of {total}, counted from 0", range.offset));
        }
        if self.cut_line {
            notes.push(format!(
                "line {} is cut after {READ_TEXT_BYTES_MAX} bytes: see the rest of it with `run_shell_command`, for example with `cut -c`",
                range.offset
            ));
        }
        if end < total || self.uncounted {
            notes.push(format!("read on with offset {end}"));
        }
        if std::str::from_utf8(&self.text).is_err_and(|error| error.error_len().is_some()) {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}; `replace` keeps them as they are".to_owned());
        }
        notes
    }
}

#[cfg(test)]
#[path = "read_file_tests.rs"]
mod tests;
