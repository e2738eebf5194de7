//! `replace`: a text in a file by another. Everything else keeps its bytes, line endings and broken UTF-8 included.

use std::io::Read as _;

use serde::Deserialize;

use super::write_file::check_size;
use super::{Room, counted};
use crate::answer::Answer;
use crate::arguments::whole;
use crate::confine::Missing;
use crate::error::{Failure, shown};
use crate::jobs::Cancel;
use crate::limits::WRITE_BYTES_MAX;
use crate::rewrite::rewrite;

pub(super) const OFFER: &str = r#"{
"name":"replace","title":"Replace text in a file",
"description":"Replaces a text in a file of the workspace. `old_string` must stand in the file exactly as given, white space included, and exactly `expected_replacements` times (default 1): otherwise nothing is changed and the answer says how often it was found. Give enough lines around the place to make it unique. In a file whose lines all end with CRLF, line ends of both texts are taken as CRLF.",
"inputSchema":{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace folder, or absolute inside it or an included folder"},
"old_string":{"type":"string","minLength":1,"description":"The text as it is in the file"},
"new_string":{"type":"string","description":"The text that takes its place; may be empty"},
"expected_replacements":{"type":"integer","minimum":1,"description":"How often `old_string` stands in the file; all of them are replaced (default 1)"}
},"required":["path","old_string","new_string"],"additionalProperties":false},
"annotations":{"title":"Replace text in a file","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}"#;

/// How many places are named when there are more than expected.
const PLACES_SHOWN: usize = 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default, deserialize_with = "whole")]
    expected_replacements: Option<u64>,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let path = room.folders.path("path", &wanted.path)?;
    if wanted.old_string.is_empty() {
        return Err(Failure::new("`old_string` is empty; to write a whole file use `write_file`"));
    }
    if wanted.old_string == wanted.new_string {
        return Err(Failure::new("`old_string` and `new_string` are the same, so there is nothing to do"));
    }
    let expected = wanted.expected_replacements.unwrap_or(1);
    if expected == 0 {
        return Err(Failure::new("`expected_replacements` is 0; leave it out or give at least 1"));
    }
    let _alone = room.changing();
    let (file, _) = room.folders.open_file(&path)?;
    let mut before = Vec::new();
    let read = file.take(WRITE_BYTES_MAX as u64 + 1).read_to_end(&mut before);
    read.map_err(|error| Failure::system("read", path.text(), &error))?;
    check_size(before.len())?;
    let (old, new) = in_the_lines_of(&before, wanted);
    let places = places(&before, old.as_bytes());
    if places.len() as u64 != expected {
        return Err(wrong_count(&wanted.path, &before, &places, expected));
    }
    // Cannot overflow for long: both factors are bounded by the sizes of messages and files.
    check_size((before.len() - places.len() * old.len()).saturating_add(places.len().saturating_mul(new.len())))?;
    cancel.check()?;
    let after = replaced(&before, &places, old.len(), new.as_bytes());
    let spot = room.folders.spot(&path, Missing::Refuse)?;
    rewrite(&spot, &after).map_err(|error| Failure::system("write", path.text(), &error))?;
    let (count, verb) = counted(places.len(), "place", "places");
    let (first, path) = (line_at(&before, places.first().copied().unwrap_or_default()), shown(path.text()));
    Ok(Answer::text(format!("{count} in `{path}` {verb} replaced (the first in line {first}, counted from 1).")))
}

/// Both texts with the line ends of the file, when it has only CRLF.
fn in_the_lines_of(file: &[u8], wanted: &Wanted) -> (String, String) {
    let mut ends = file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let is_crlf = |at: usize| at.checked_sub(1).and_then(|before| file.get(before)) == Some(&b'\r');
    let only_crlf = ends.next().is_some_and(is_crlf) && ends.all(is_crlf);
    let adapt = |text: &str| match only_crlf {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text.to_owned(),
    };
    (adapt(&wanted.old_string), adapt(&wanted.new_string))
}

/// Where `old` stands, from left to right, none over another.
fn places(file: &[u8], old: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(file, old).collect()
}

fn replaced(file: &[u8], places: &[usize], old_size: usize, new: &[u8]) -> Vec<u8> {
    let mut after = Vec::with_capacity(file.len());
    let mut done = 0;
    for &place in places {
        after.extend_from_slice(file.get(done..place).unwrap_or_default());
        after.extend_from_slice(new);
        done = place + old_size;
    }
    after.extend_from_slice(file.get(done..).unwrap_or_default());
    after
}

/// The number of the line at a place, counted from 1.
fn line_at(file: &[u8], place: usize) -> usize {
    file.iter().take(place).filter(|byte| **byte == b'\n').count() + 1
}

fn wrong_count(path: &str, file: &[u8], places: &[usize], expected: u64) -> Failure {
    let path = shown(path);
    if places.is_empty() {
        return Failure::new(format!(
            "`old_string` was found 0 times in `{path}`, expected {expected}; nothing was changed. Read the file first: the text must be exactly as it stands there, white space included"
        ));
    }
    let lines: Vec<_> = places.iter().take(PLACES_SHOWN).map(|place| line_at(file, *place).to_string()).collect();
    let more = if places.len() > PLACES_SHOWN { ", …" } else { "" };
    Failure::new(format!(
        "`old_string` was found {} times in `{path}` (lines {}{more}, counted from 1), expected {expected}; nothing was changed. Give more lines around the place, or say in `expected_replacements` how many are meant",
        places.len(),
        lines.join(", ")
    ))
}
