//! `$NAME`, `${NAME}` and `${NAME:-default}` against the variables of the host: one rule for every field, applied once.
//!
//! | written | stands for |
//! | --- | --- |
//! | `$NAME`, `${NAME}` | the variable |
//! | `${NAME:-text}`, `${NAME-text}` | the variable, or the text when it is not set |
//! | `${NAME:+text}` | the text when the variable is set and not empty, else nothing |
//! | `${NAME+text}` | the text when the variable is set, else nothing |
//! | `\$` | a dollar sign |
//!
//! A variable that is set but empty counts as set. What a variable brings in is not looked at again, so a `$` in a password stays one, and
//! a variable never brings in a reference. References to secrets (`${env:NAME}` and its kin, see [`secret_reference`]) stay references.
//!
//! [`secret_reference`]: crate::settings::secret_reference

use std::collections::BTreeMap;

use crate::settings::parts::Parts;
use crate::settings::secret_reference::{self, ReferenceFault};

/// What becomes of a variable that is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// It stays as it is written.
    Keep,
    /// Nothing is left of it.
    Empty,
}

/// A text with its variables filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// What it consists of.
    pub parts: Parts,
    /// The variables that are not set, in order of appearance, each once.
    pub unset: Vec<UnsetVariable>,
    /// How long it is, references as they are written.
    pub bytes: usize,
}

/// Why a text cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// It gets too long.
    TooLong,
    /// A reference in it is none.
    Reference(ReferenceFault),
}

/// A variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsetVariable {
    /// What stands after the `$` or between the braces.
    pub name: String,
    /// Whether there are braces. Without them it may be no variable at all, but part of a password with a `$`.
    pub has_braces: bool,
}

impl UnsetVariable {
    /// The name, where it was surely meant as one and can be repeated.
    #[must_use]
    pub fn shown(&self) -> Option<&str> {
        let is_usual = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
        (self.has_braces || self.name.chars().all(is_usual)).then_some(self.name.as_str())
    }
}

/// Fills in variables.
///
/// # Errors
/// When the result has more than `bytes_max` bytes, or something in it reads like a reference to a secret and is none.
pub fn expand(
    text: &str,
    vars: &BTreeMap<String, String>,
    unset: Unset,
    bytes_max: usize,
) -> Result<Expanded, ExpandError> {
    // Most texts have no variables, and there may be thousands of them.
    if !text.contains('$') {
        let parts = Parts::from(text.to_owned());
        let expanded = Expanded { parts, unset: Vec::new(), bytes: text.len() };
        return if text.len() > bytes_max { Err(ExpandError::TooLong) } else { Ok(expanded) };
    }
    let mut expanded = Expanded::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        if let Some(before) = before.strip_suffix('\\') {
            expanded.push(before);
            expanded.push("$");
            rest = after;
        } else {
            expanded.push(before);
            rest = expanded.dollar(after, vars, unset)?;
        }
        if expanded.bytes > bytes_max {
            return Err(ExpandError::TooLong);
        }
    }
    expanded.push(rest);
    if expanded.bytes > bytes_max { Err(ExpandError::TooLong) } else { Ok(expanded) }
}

impl Expanded {
    fn push(&mut self, text: &str) {
        self.bytes += text.len();
        self.parts.push_text(text);
    }

    /// Takes in what starts with a `$`, and gives what follows.
    fn dollar<'t>(
        &mut self,
        after_dollar: &'t str,
        vars: &BTreeMap<String, String>,
        unset: Unset,
    ) -> Result<&'t str, ExpandError> {
        if let Some(read) = after_dollar.strip_prefix('{').and_then(secret_reference::read) {
            let (reference, after) = read.map_err(ExpandError::Reference)?;
            self.bytes += reference.to_string().len();
            self.parts.push_reference(reference);
            return Ok(after);
        }
        let (placeholder, after) = placeholder(after_dollar);
        match placeholder.map(|placeholder| (placeholder, placeholder.value(vars))) {
            None => self.push("$"),
            Some((_, Some(value))) => self.push(value),
            Some((placeholder, None)) => self.leave(placeholder, unset),
        }
        Ok(after)
    }

    fn leave(&mut self, placeholder: Placeholder<'_>, unset: Unset) {
        if unset == Unset::Keep {
            let (open, close) = if placeholder.has_braces { ("${", "}") } else { ("$", "") };
            [open, placeholder.name, close].into_iter().for_each(|part| self.push(part));
        }
        if !self.unset.iter().any(|known| known.name == placeholder.name) {
            self.unset.push(UnsetVariable { name: placeholder.name.to_owned(), has_braces: placeholder.has_braces });
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Placeholder<'t> {
    /// All between the braces.
    name: &'t str,
    has_braces: bool,
}

/// The placeholder after a `$`, if it is one, and what follows.
fn placeholder(after_dollar: &str) -> (Option<Placeholder<'_>>, &str) {
    if let Some((name, after)) = after_dollar.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        let is_named = name.chars().next().is_some_and(is_start_of_name);
        let placeholder = Placeholder { name, has_braces: true };
        return if is_named { (Some(placeholder), after) } else { (None, after_dollar) };
    }
    let end = after_dollar.find(|letter: char| !is_part_of_name(letter)).unwrap_or(after_dollar.len());
    let (name, after) = after_dollar.split_at(end);
    if name.chars().next().is_some_and(is_start_of_name) {
        (Some(Placeholder { name, has_braces: false }), after)
    } else {
        // `$1` and `$$` are for other readers.
        (None, after_dollar)
    }
}

impl<'t> Placeholder<'t> {
    fn value<'v>(&self, vars: &'v BTreeMap<String, String>) -> Option<&'v str>
    where
        't: 'v,
    {
        // A variable may have a strange name; then it is that one.
        if let Some(value) = vars.get(self.name) {
            return Some(value);
        }
        if !self.has_braces {
            return None;
        }
        let end = self.name.find(|letter: char| !is_part_of_name(letter))?;
        let (name, operator) = self.name.split_at(end);
        let value = vars.get(name).map(String::as_str);
        if let Some(text) = operator.strip_prefix(":-").or_else(|| operator.strip_prefix('-')) {
            Some(value.unwrap_or(text))
        } else if let Some(text) = operator.strip_prefix(":+") {
            Some(if value.is_some_and(|value| !value.is_empty()) { text } else { "" })
        } else {
            let text = operator.strip_prefix('+')?;
            Some(if value.is_some() { text } else { "" })
        }
    }
}

fn is_start_of_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::{ExpandError, Expanded, Unset, expand};
    use crate::settings::parts::Part;
    use crate::settings::secret_reference::ReferenceFault;
    use std::collections::BTreeMap;

    const MAX: usize = 1000;

    fn vars() -> BTreeMap<String, String> {
        let pairs = [
            ("HOME", "/h"),
            ("EMPTY", ""),
            ("COST", "$5 and ${HOME}"),
            ("A_1", "x"),
            ("odd-name", "odd"),
            ("SLY", "${cmd:touch pwned}"),
            ("HALF", "${cmd:touch"),
            ("cmd:x", "not this"),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn expand_keeping(text: &str) -> Expanded {
        expand(text, &vars(), Unset::Keep, MAX).unwrap()
    }

    /// The text, references marked.
    fn marked(expanded: &Expanded) -> String {
        let mark = |part: &Part| match part {
            Part::Plain(text) => text.clone(),
            Part::Secret(reference) => format!("<{reference}>"),
        };
        expanded.parts.iter().map(mark).collect()
    }

    #[test]
    fn each_form_stands_for_what_the_table_says() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("", "", &[]),
            ("plain", "plain", &[]),
            ("$HOME/bin", "/h/bin", &[]),
            ("${HOME}bin", "/hbin", &[]),
            ("$A_1-$A_1", "x-x", &[]),
            ("${HOME:-d}", "/h", &[]),
            ("${NONE:-d}", "d", &[]),
            ("${NONE:-}", "", &[]),
            ("${NONE-d}", "d", &[]),
            ("${EMPTY:-d}", "", &[]),
            ("${EMPTY-d}", "", &[]),
            ("${EMPTY:+d}", "", &[]),
            ("${EMPTY+d}", "d", &[]),
            ("${HOME:+d}", "d", &[]),
            ("${NONE:+d}", "", &[]),
            ("${NONE+d}", "", &[]),
            ("${odd-name}", "odd", &[]),
            ("${NONE:-a b/:c}", "a b/:c", &[]),
            ("${NONE:-${HOME}}", "${HOME}", &[]),
            ("$COST", "$5 and ${HOME}", &[]),
            ("\\$HOME \\${HOME}", "$HOME ${HOME}", &[]),
            ("$1 $$ $ ${} ${1} $-", "$1 $$ $ ${} ${1} $-", &[]),
            ("${HOME", "${HOME", &[]),
            ("100$", "100$", &[]),
            ("漢$HOME漢", "漢/h漢", &[]),
            ("$NONE", "$NONE", &["NONE"]),
            ("a${NONE}b$OTHER$NONE", "a${NONE}b$OTHER$NONE", &["NONE", "OTHER"]),
        ];
        for (text, expected, unset) in cases {
            let expanded = expand_keeping(text);
            let names: Vec<&str> = expanded.unset.iter().map(|one| one.name.as_str()).collect();
            assert_eq!((marked(&expanded).as_str(), names.as_slice()), (*expected, *unset), "{text}");
            assert_eq!(expanded.bytes, expected.len(), "{text}");
        }
    }

    #[test]
    fn references_stay_references() {
        let cases = [
            ("${env:HOME}", "<${env:HOME}>"),
            ("a${env:HOME}b$HOME", "a<${env:HOME}>b/h"),
            ("${file:$HOME/x}", "<${file:$HOME/x}>"),
            ("${cmd:echo ${HOME} '}'}!", "<${cmd:echo ${HOME} '}'}>!"),
            ("${cmd:x}${cmd:x}", "<${cmd:x}><${cmd:x}>"),
            ("$A_1${keychain:a}", "x<${keychain:a}>"),
            ("\\${cmd:x}", "${cmd:x}"),
            ("\\\\${cmd:x}", "\\${cmd:x}"),
            ("$${cmd:x}", "$<${cmd:x}>"),
        ];
        for (text, expected) in cases {
            let expanded = expand_keeping(text);
            assert_eq!((marked(&expanded).as_str(), expanded.unset.len()), (expected, 0), "{text}");
        }
    }

    #[test]
    fn what_a_variable_brings_in_is_never_a_reference() {
        let cases = [
            ("$SLY", "${cmd:touch pwned}"),
            ("${SLY}", "${cmd:touch pwned}"),
            ("${NONE:-$SLY}", "$SLY"),
            ("${NONE:-${cmd:x}}", "${cmd:x}"),
            ("$HALF pwned}", "${cmd:touch pwned}"),
            ("$HALF${env:HOME}", "${cmd:touch<${env:HOME}>"),
            ("$NONE{cmd:x}", "$NONE{cmd:x}"),
        ];
        for (text, expected) in cases {
            assert_eq!(marked(&expand_keeping(text)), expected, "{text}");
        }
    }

    #[test]
    fn references_that_are_none_are_refused() {
        for text in ["a ${vault:x}", "${cmd:x", "${cmd:}", "${env:A:-b}", "${HOME}${input:x}"] {
            let refused = expand(text, &vars(), Unset::Keep, MAX);
            assert!(matches!(refused, Err(ExpandError::Reference(_))), "{text}: {refused:?}");
        }
        let unknown = expand("${vault:x}", &vars(), Unset::Keep, MAX).unwrap_err();
        assert_eq!(unknown, ExpandError::Reference(ReferenceFault::UnknownKind("vault".to_owned())));
    }

    #[test]
    fn what_may_be_part_of_a_password_is_not_repeated() {
        let cases = [("$MY_VAR1", Some("MY_VAR1")), ("${my_var}", Some("my_var")), ("pa$sword", None), ("$Ab", None)];
        for (text, expected) in cases {
            let expanded = expand(text, &vars(), Unset::Empty, MAX).unwrap();
            assert_eq!(expanded.unset[0].shown(), expected, "{text}");
        }
        assert!(!format!("{:?}", expand_keeping("$HOME ${env:A}")).contains("/h"));
    }

    #[test]
    fn what_is_not_set_can_be_left_out() {
        let expanded = expand("Bearer $NONE${OTHER}!", &vars(), Unset::Empty, MAX).unwrap();
        assert_eq!((marked(&expanded).as_str(), expanded.unset.len()), ("Bearer !", 2));
    }

    #[test]
    fn results_are_bounded() {
        assert!(expand(&"$HOME".repeat(MAX / 2), &vars(), Unset::Keep, MAX).is_ok());
        for text in ["$HOME".repeat(MAX / 2 + 1), "x".repeat(MAX + 1), "${cmd:a}".repeat(MAX / 8 + 1)] {
            assert_eq!(expand(&text, &vars(), Unset::Keep, MAX).unwrap_err(), ExpandError::TooLong);
        }
    }
}
