//! How the names of tools are shown: cleaned, with their server, with a hash; and the spellings by which a restriction knows them. Pure, and the
//! same on every run.

use std::borrow::Cow;

use crate::limits::EXPOSED_NAME_CHARS_MAX;

/// What is put between a server's name and a tool's.
pub(crate) const BETWEEN: &str = "__";

/// How much of the beginning and of the end of a long name is kept.
const KEPT_HEAD: usize = 28;
const KEPT_TAIL: usize = 32;

/// How many digits of a hash tell two names apart.
const HASH_DIGITS: usize = 8;

/// Only characters that names may have, and not too many of them.
pub(crate) fn clean(name: &str) -> Cow<'_, str> {
    // Most names are what they may be.
    if is_clean(name) { name.into() } else { cleaned(name).into() }
}

/// The same for one that was put together.
fn made_clean(name: String) -> String {
    if is_clean(&name) { name } else { cleaned(&name) }
}

fn is_clean(name: &str) -> bool {
    name.len() <= EXPOSED_NAME_CHARS_MAX && name.bytes().all(|byte| is_legal(char::from(byte)))
}

fn cleaned(name: &str) -> String {
    let cleaned: String = name.chars().map(|letter| if is_legal(letter) { letter } else { '_' }).collect();
    if cleaned.len() <= EXPOSED_NAME_CHARS_MAX {
        return cleaned;
    }
    // Only ASCII is left, so every byte is a character.
    let (head, tail) = (cleaned.get(..KEPT_HEAD), cleaned.get(cleaned.len() - KEPT_TAIL..));
    format!("{}___{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

fn is_legal(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

/// The name under which every tool can be called.
pub(crate) fn qualified(server: &str, tool: &str) -> String {
    made_clean([server, BETWEEN, tool].concat())
}

/// The name of a tool where all are shown with their servers.
pub(crate) fn prefixed(server: &str, tool: &str) -> String {
    made_clean(format!("mcp_{server}_{tool}"))
}

/// A name made unlike all others by a hash of what it stands for.
pub(crate) fn with_hash(name: &str, server: &str, tool: &str, round: u32) -> String {
    let mut hash = Fnv::default();
    for part in [server.as_bytes(), b"\0", tool.as_bytes(), b"\0", &round.to_le_bytes()] {
        hash.write(part);
    }
    let digits = format!("{:016x}", hash.0);
    let room = EXPOSED_NAME_CHARS_MAX - HASH_DIGITS - 1;
    let kept = name.get(..name.len().min(room)).unwrap_or_default();
    // Without two underscores in a row it cannot read like a tool of some server.
    let parts: Vec<&str> = kept.split('_').filter(|part| !part.is_empty()).collect();
    format!("{}_{}", parts.join("_"), digits.get(..HASH_DIGITS).unwrap_or_default())
}

/// Whether a name ends as one made by [`with_hash`].
pub(crate) fn has_hash(name: &str) -> bool {
    let digits = name.rsplit_once('_').map(|(_, digits)| digits);
    digits.is_some_and(|digits| digits.len() == HASH_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// A name as a restriction compares it: without blanks around it, in small letters. Each letter for itself, so that a part of a name is
/// folded as it is within the whole.
pub(crate) fn folded(name: &str) -> String {
    let name = name.trim();
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.chars().flat_map(char::to_lowercase).collect() }
}

/// The spellings by which a restriction knows a tool or a server: its own name, and the name as it is shown.
pub(crate) fn spellings(name: &str) -> Vec<String> {
    let mut spellings = vec![folded(name)];
    if !is_clean(name) {
        add(&mut spellings, &cleaned(name));
    }
    spellings
}

/// The spellings of a tool that is shown with its server.
pub(crate) fn spellings_with_server(server: &str, tool: &str) -> Vec<String> {
    let mut spellings = Vec::new();
    for name in [qualified(server, tool), prefixed(server, tool)] {
        add(&mut spellings, &with_hash(&name, server, tool, 0));
        add(&mut spellings, &name);
    }
    spellings
}

fn add(spellings: &mut Vec<String>, name: &str) {
    let name = folded(name);
    if !spellings.contains(&name) {
        spellings.push(name);
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version, which the hashes of the standard library are not.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{has_hash, prefixed, qualified, spellings, with_hash};

    #[test]
    fn a_name_is_known_as_it_is_and_as_it_is_shown() {
        let cases: [(&str, &[&str]); 7] = [
            ("delete_all", &["delete_all"]),
            ("delete all", &["delete all", "delete_all"]),
            ("Drop_Table", &["drop_table"]),
            (" x ", &["x", "_x_"]),
            ("löschen", &["löschen", "l_schen"]),
            ("ΟΔΟΣ", &["οδοσ", "____"]),
            ("", &[""]),
        ];
        for (name, expected) in cases {
            assert_eq!(spellings(name), expected, "{name}");
        }
        let long = spellings(&"x".repeat(100));
        assert_eq!(long.iter().map(String::len).collect::<Vec<_>>(), [100, 63]);
    }

    #[test]
    fn names_with_a_hash_are_known() {
        for name in [qualified("s", "a b"), prefixed("my server", "x")] {
            assert!(!has_hash(&name), "{name}");
            assert!(has_hash(&with_hash(&name, "s", "t", 0)), "{name}");
        }
    }
}
