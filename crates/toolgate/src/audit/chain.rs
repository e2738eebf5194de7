//! How one line is bound to the line before it: `prev` is the hash of that one, `hash` stands last and is that of all else in its own line.
//!
//! The hash is over bytes, not over meaning: a line that says the same in another way does not fit either.

use std::fmt::Write as _;

use ring::digest::{Context, SHA256, digest};
use serde::Deserialize;

use crate::hex::hex;

/// The version of the format.
pub(super) const VERSION: u64 = 1;

/// What stands for the hash of the line before the first one.
pub(super) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The kinds of lines.
pub(super) mod kind {
    /// The first line of a file.
    pub(in crate::audit) const BEGIN: &str = "begin";
    /// A call that is about to be sent.
    pub(in crate::audit) const STARTED: &str = "started";
    /// A call, and how it ended.
    pub(in crate::audit) const CALL: &str = "call";
    /// A change of permissions, such as rules, grants, trust or settings.
    pub(in crate::audit) const PERMISSION: &str = "permission";
    /// A torn line was found and taken away.
    pub(in crate::audit) const REPAIRED: &str = "repaired";
    /// Calls of this process could not be written down.
    pub(in crate::audit) const MISSED: &str = "missed";
    /// The file that says where the log ends was gone.
    pub(in crate::audit) const RESUMED: &str = "resumed";
}

const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const BEHIND_HASH: &[u8] = b"\"}";
const HASH_CHARS: usize = 64;

/// Where a line stands: what the next one needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number, counted from 1 over all files; 0 before the first.
    pub(super) seq: u64,
    /// Its hash.
    pub(super) hash: String,
}

impl Place {
    /// Before the first line.
    pub(super) fn start() -> Self {
        Self { seq: 0, hash: NO_HASH.to_owned() }
    }
}

/// What a new line says. Kind and time are words of ours.
pub(super) struct NewLine<'a> {
    pub(super) kind: &'a str,
    pub(super) at: &'a str,
    /// What it is about, in as many parts as are at hand.
    pub(super) members: &'a [&'a str],
}

/// Writes the line that follows `before`, with its end, by the process `pid`, in place of what `line` holds. Where it stands.
pub(super) fn seal(line: &mut String, before: &Place, pid: &str, new: &NewLine<'_>) -> Place {
    let NewLine { kind, at, members } = new;
    let seq = before.seq.saturating_add(1);
    line.clear();
    // Writing to a string cannot fail.
    let _written = write!(line, r#"{{"v":{VERSION},"seq":{seq},"#).is_ok();
    put(line, &["\"kind\":\"", kind, "\",\"at\":\"", at, "\",\"pid\":", pid, ","]);
    put(line, members);
    put(line, &[",\"prev\":\"", &before.hash, "\"}"]);
    let hash = hash_of(line.as_bytes());
    line.truncate(line.len().saturating_sub(1));
    put(line, &[",\"hash\":\"", &hash, "\"}\n"]);
    Place { seq, hash }
}

fn put(line: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| line.push_str(part));
}

/// One line as it was found, without its end.
#[derive(Debug)]
pub(super) struct Link<'a> {
    /// What every line says.
    pub(super) said: Said,
    /// The hash it claims.
    pub(super) hash: &'a str,
    /// Whether that is the hash of what stands there.
    pub(super) holds: bool,
}

/// What every line says, as far as the chain needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) seq: u64,
    pub(super) kind: String,
    pub(super) prev: String,
    /// The number of the file, in its first line.
    pub(super) file: Option<u64>,
    /// How many bytes were taken away, or calls missed.
    pub(super) bytes: Option<u64>,
    pub(super) calls: Option<u64>,
    /// The number of the record of its beginning, in that of a call.
    pub(super) started: Option<u64>,
    /// The part that was missing when the log continued.
    pub(super) without: Option<String>,
    #[serde(default)]
    pub(super) pid: u32,
}

impl<'a> Link<'a> {
    /// Reads a line; `None` when it is none of ours, or so damaged that it cannot be read.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let inner = line.strip_suffix(BEHIND_HASH)?;
        let (body, hash) = inner.split_at_checked(inner.len().checked_sub(HASH_CHARS)?)?;
        let body = body.strip_suffix(BEFORE_HASH)?;
        let hash = std::str::from_utf8(hash).ok()?;
        let said: Said = serde_json::from_slice(line).ok()?;
        let mut context = Context::new(&SHA256);
        context.update(body);
        context.update(b"}");
        Some(Self { said, hash, holds: hex(context.finish().as_ref()) == hash })
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Place {
        Place { seq: self.said.seq, hash: self.hash.to_owned() }
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

#[cfg(test)]
mod tests {
    use super::{Link, NO_HASH, NewLine, Place, hash_of, kind, seal};

    #[test]
    fn a_line_is_bound_to_the_one_before_it() {
        let (mut first, mut second) = (String::new(), "what was there before".to_owned());
        let new = NewLine { kind: kind::BEGIN, at: "now", members: &["\"file\":1"] };
        let place = seal(&mut first, &Place::start(), "7", &new);
        seal(&mut second, &place, "7", &NewLine { kind: kind::CALL, at: "now", members: &["\"tool\":", "\"x\""] });
        let line = first.strip_suffix('\n').unwrap();
        let body = format!(r#"{{"v":1,"seq":1,"kind":"begin","at":"now","pid":7,"file":1,"prev":"{NO_HASH}"}}"#);
        assert_eq!(place.hash, hash_of(body.as_bytes()));
        assert_eq!(line, format!("{},\"hash\":\"{}\"}}", body.strip_suffix('}').unwrap(), place.hash));
        let link = Link::read(line.as_bytes()).unwrap();
        assert!(link.holds);
        assert_eq!((link.place(), link.said.file), (place.clone(), Some(1)));
        let link = Link::read(second.trim_end().as_bytes()).unwrap();
        assert_eq!((link.said.seq, link.said.prev), (2, place.hash));
    }

    #[test]
    fn every_changed_byte_is_seen() {
        let mut line = String::new();
        seal(&mut line, &Place::start(), "7", &NewLine { kind: kind::CALL, at: "now", members: &["\"tool\":\"é\""] });
        let line = line.trim_end().as_bytes();
        for at in 0..line.len() {
            for flip in [1, 0x20, 0x80] {
                let mut changed = line.to_vec();
                changed[at] ^= flip;
                assert!(Link::read(&changed).is_none_or(|link| !link.holds), "byte {at} ^ {flip}");
            }
        }
    }
}
