//! Regular expressions of rules: compiled within bounds of memory. Matching takes time that grows only with the text, whatever the pattern.

use std::cell::Cell;

use regex::{Regex, RegexBuilder};

use crate::limits::{POLICY_REGEX_CACHE_BYTES_MAX, POLICY_REGEX_COMPILED_BYTES_MAX, POLICY_REGEXES_COMPILED_BYTES_MAX};

/// Most expressions are small; how large a compiled one is cannot be asked, so it is counted as the first of these it fits in.
const SIZES_BYTES: [usize; 3] = [16 * 1024, 128 * 1024, POLICY_REGEX_COMPILED_BYTES_MAX];

/// The way to write what a pattern with look-around means.
const TWO_RULES: &str = "Write two rules: a plain pattern for what is meant, \
    and one of a higher priority and the other decision for the exception";

/// Compiles the expressions of one file.
#[derive(Debug)]
pub(super) struct Regexes {
    bytes_left: Cell<usize>,
}

impl Default for Regexes {
    fn default() -> Self {
        Self { bytes_left: Cell::new(POLICY_REGEXES_COMPILED_BYTES_MAX) }
    }
}

impl Regexes {
    /// Compiles an expression. Fails with what is wrong with it, in words that follow its key.
    pub(super) fn compile(&self, pattern: &str) -> Result<Regex, String> {
        if looks_around(pattern) {
            return Err(format!(
                "uses look-around (`(?=`, `(?!`, `(?<=`, `(?<!`), which does not exist here. {TWO_RULES}"
            ));
        }
        for size in SIZES_BYTES {
            match built(pattern, size) {
                Ok(regex) => return self.take(size).map(|()| regex),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(error) => return Err(format!("is no regular expression: {}", last_line(&error))),
            }
        }
        Err(format!("takes more than {POLICY_REGEX_COMPILED_BYTES_MAX} bytes when it is compiled"))
    }

    /// Counts memory that a compiled expression takes.
    pub(super) fn take(&self, bytes: usize) -> Result<(), String> {
        let left = self.bytes_left.get().checked_sub(bytes).ok_or("is one expression too many for one file")?;
        self.bytes_left.set(left);
        Ok(())
    }
}

/// Whether a pattern asks for what stands before or behind a place. A parenthesis behind a backslash or in a class is a plain one.
fn looks_around(pattern: &str) -> bool {
    let (mut letters, mut is_in_class) = (pattern.chars(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '(' if !is_in_class => {
                let rest = letters.as_str();
                if ["?=", "?!", "?<=", "?<!"].iter().any(|opening| rest.starts_with(opening)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn built(pattern: &str, size: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(size).dfa_size_limit(POLICY_REGEX_CACHE_BYTES_MAX).build()
}

/// The explanation without the drawing of the pattern above it.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Regexes, SIZES_BYTES};

    #[test]
    fn look_around_is_named_in_words() {
        let cases = [
            ("(?!x)", true),
            ("a(?=b)", true),
            ("(?<=a)b", true),
            ("(?<!a)b", true),
            (r#""command":"git(?! push)"#, true),
            (r"\(?=b", false),
            ("[(?=]b", false),
            ("(?:a)(?<name>b)(?P<other>c)", false),
        ];
        for (pattern, expected) in cases {
            let compiled = Regexes::default().compile(pattern);
            let is_named = compiled.as_ref().is_err_and(|what| what.contains("Write two rules"));
            assert_eq!(is_named, expected, "{pattern}: {compiled:?}");
        }
    }

    #[test]
    fn the_memory_of_a_file_is_bounded() {
        let regexes = Regexes { bytes_left: Cell::new(3 * SIZES_BYTES[0]) };
        let compiled: Vec<bool> = ["a", "a(", "b", "c", "d"].map(|pattern| regexes.compile(pattern).is_ok()).to_vec();
        assert_eq!(compiled, [true, false, true, true, false]);
        assert_eq!(regexes.compile("e").unwrap_err(), "is one expression too many for one file");
        let one = Regexes { bytes_left: Cell::new(2 * SIZES_BYTES[1]) };
        assert!(one.compile("a{1000}").is_ok() && one.compile("a{1000}").is_ok() && one.compile("a").is_err());
    }
}
