//! Regular expressions of rules: compiled within bounds of memory. Matching takes time that grows only with the text, whatever the pattern.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::{Regex, RegexBuilder};

use crate::limits::{
    POLICY_REGEX_CACHE_BYTES_MAX, POLICY_REGEX_COMPILED_BYTES_MAX, POLICY_REGEXES_COMPILED_BYTES_MAX,
    POLICY_REGEXES_MAX,
};

/// Most expressions are small; how large a compiled one is cannot be asked, so it is counted as the first of these it fits in.
const SIZES_BYTES: [usize; 3] = [16 * 1024, 128 * 1024, POLICY_REGEX_COMPILED_BYTES_MAX];

/// Hint for a pattern with look-around.
const TWO_RULES: &str = "Write two rules: one with a plain pattern, \
    and one with a higher priority and the other decision for the exception";

/// Budget for the regular expressions of one owner, however many files it has. An owner is the folder, an extension,
/// the person or the administrator.
#[derive(Clone, Debug)]
pub struct RegexBudget(Arc<Left>);

#[derive(Debug)]
struct Left {
    bytes: AtomicUsize,
    expressions: AtomicUsize,
}

impl Default for RegexBudget {
    fn default() -> Self {
        Self::of(POLICY_REGEXES_COMPILED_BYTES_MAX, POLICY_REGEXES_MAX)
    }
}

impl RegexBudget {
    fn of(bytes: usize, expressions: usize) -> Self {
        Self(Arc::new(Left { bytes: AtomicUsize::new(bytes), expressions: AtomicUsize::new(expressions) }))
    }

    /// Counts the memory of a compiled expression.
    fn take_bytes(&self, bytes: usize) -> Result<(), String> {
        let taken = |left: usize| left.checked_sub(bytes);
        let outcome = self.0.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        outcome.map(drop).map_err(|_| {
            format!(
                "exceeds a limit: all expressions together take at most {POLICY_REGEXES_COMPILED_BYTES_MAX} bytes \
                 (limit POLICY_REGEXES_COMPILED_BYTES_MAX)"
            )
        })
    }

    /// Counts an expression before it is compiled.
    fn take_expression(&self) -> Result<(), String> {
        let taken = |left: usize| left.checked_sub(1);
        let outcome = self.0.expressions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        outcome.map(drop).map_err(|_| {
            format!(
                "exceeds a limit: the policies of one owner have at most {POLICY_REGEXES_MAX} \
                 (limit POLICY_REGEXES_MAX); put several into one with `|`"
            )
        })
    }
}

/// Compiles the expressions of one file.
#[derive(Debug)]
pub(super) struct Regexes {
    budget: RegexBudget,
    /// Whether the budget was used up, so that no more work is done.
    is_over: Cell<bool>,
}

impl Regexes {
    pub(super) fn within(budget: &RegexBudget) -> Self {
        Self { budget: budget.clone(), is_over: Cell::new(false) }
    }

    /// Compiles an expression. Fails with what is wrong with it, in words that follow its key.
    pub(super) fn compile(&self, pattern: &str) -> Result<Regex, String> {
        self.begin()?;
        if looks_around(pattern) {
            return Err(format!(
                "uses look-around (`(?=`, `(?!`, `(?<=`, `(?<!`), which is not supported. {TWO_RULES}"
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

    /// Counts an expression before it is compiled.
    pub(super) fn begin(&self) -> Result<(), String> {
        if self.is_over.get() {
            return Err("is not compiled, because too many expressions come before it".to_owned());
        }
        self.noted(self.budget.take_expression())
    }

    /// Counts the memory of a compiled expression.
    pub(super) fn take(&self, bytes: usize) -> Result<(), String> {
        self.noted(self.budget.take_bytes(bytes))
    }

    fn noted(&self, taken: Result<(), String>) -> Result<(), String> {
        self.is_over.set(self.is_over.get() || taken.is_err());
        taken
    }
}

/// Whether a pattern has look-around. A parenthesis after a backslash or in a class is a literal.
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
    use super::{RegexBudget, Regexes, SIZES_BYTES};

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
            let compiled = Regexes::within(&RegexBudget::default()).compile(pattern);
            let is_named = compiled.as_ref().is_err_and(|what| what.contains("Write two rules"));
            assert_eq!(is_named, expected, "{pattern}: {compiled:?}");
        }
    }

    #[test]
    fn what_all_files_of_an_owner_take_is_bounded() {
        let compiled = |bytes: usize, expressions: usize, patterns: &[&str]| -> Vec<bool> {
            let budget = RegexBudget::of(bytes, expressions);
            // Each pattern is in a file of its own.
            patterns.iter().map(|pattern| Regexes::within(&budget).compile(pattern).is_ok()).collect()
        };
        let many = usize::MAX;
        assert_eq!(compiled(3 * SIZES_BYTES[0], many, &["a", "a(", "b", "c", "d"]), [true, false, true, true, false]);
        assert_eq!(compiled(2 * SIZES_BYTES[1], many, &["a{1000}", "a{1000}", "a"]), [true, true, false]);
        assert_eq!(compiled(many, 2, &["a", "b", "c"]), [true, true, false]);
    }

    #[test]
    fn no_work_is_done_once_there_are_too_many() {
        let regexes = Regexes::within(&RegexBudget::of(usize::MAX, 1));
        assert!(regexes.compile("a").is_ok());
        let error = regexes.compile("b").unwrap_err();
        assert!(error.contains("(limit POLICY_REGEXES_MAX)"), "{error}");
        assert_eq!(regexes.compile("c").unwrap_err(), "is not compiled, because too many expressions come before it");
    }
}
