//! `ResultHandle`: what a kept result is called, `sha256:` and the digits of its hash. Nothing else names one, and no name is a path. Pure.

use std::fmt;

use ring::digest::{SHA256, digest};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::RESULT_HANDLE_DIGITS_COUNT;
use crate::own_files::{is_name, name_of};

const SCHEME: &str = "sha256:";

/// Digits of a whole hash.
const DIGITS: usize = 64;

/// Digits that are shown to a model: it has to repeat them.
const SHORT_DIGITS: usize = 16;

/// What a kept result is called, and how large it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultHandle {
    digits: String,
    bytes: u64,
}

impl ResultHandle {
    /// The handle of this content.
    pub(crate) fn of(content: &[u8]) -> Self {
        let digits = name_of(digest(&SHA256, content).as_ref());
        Self { digits, bytes: u64::try_from(content.len()).unwrap_or(u64::MAX) }
    }

    pub(super) fn new(digits: &str, bytes: u64) -> Self {
        Self { digits: digits.to_owned(), bytes }
    }

    pub(super) fn digits(&self) -> &str {
        &self.digits
    }

    /// How large the result is.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The handle with as many digits as are enough to find it again.
    #[must_use]
    pub fn short(&self) -> String {
        self.digits.chars().take(SHORT_DIGITS).fold(SCHEME.to_owned(), |mut handle, digit| {
            handle.push(digit);
            handle
        })
    }
}

impl fmt::Display for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.digits)
    }
}

/// The digits of a handle that somebody wrote, all or the first of them.
///
/// # Errors
/// When it is none.
pub(super) fn digits_of(written: &str) -> Result<String> {
    let digits = written.strip_prefix(SCHEME).map(str::to_ascii_lowercase).unwrap_or_default();
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if (RESULT_HANDLE_DIGITS_COUNT..=DIGITS).contains(&digits.len()) && digits.bytes().all(is_digit) {
        return Ok(digits);
    }
    let what = format!("`{}` names no kept result", shortened(written));
    let hint = format!("write `{SCHEME}` and at least {RESULT_HANDLE_DIGITS_COUNT} of its hexadecimal digits");
    Err(Error::new(ErrorKind::UnknownResult, what).hinting(hint))
}

/// Whether the digits are all of them.
pub(super) fn is_whole(digits: &str) -> bool {
    is_name(digits)
}

fn shortened(written: &str) -> String {
    let shown: String = written.chars().take(2 * DIGITS).flat_map(char::escape_debug).collect();
    if written.chars().nth(2 * DIGITS).is_some() { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::{ResultHandle, digits_of};

    #[test]
    fn a_handle_names_its_content() {
        let handle = ResultHandle::of(b"abc");
        let whole = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((handle.to_string().as_str(), handle.bytes()), (whole, 3));
        assert_eq!(handle.short(), "sha256:ba7816bf8f01cfea");
        assert_eq!(digits_of(whole).unwrap(), handle.digits());
        assert_eq!(digits_of(&handle.short()).unwrap(), "ba7816bf8f01cfea");
        assert_eq!(digits_of("sha256:BA7816BF8F01").unwrap(), "ba7816bf8f01");
    }

    #[test]
    fn nothing_else_is_a_handle() {
        let long = format!("sha256:{}", "a".repeat(65));
        let endless = "x".repeat(1_000);
        let cases = [
            ("", "``"),
            ("sha256:", "`sha256:`"),
            ("sha256:ba7816bf8f0", "`sha256:ba7816bf8f0`"),
            ("ba7816bf8f01cfea", "`ba7816bf8f01cfea`"),
            ("SHA256:ba7816bf8f01cfea", "`SHA256:ba7816bf8f01cfea`"),
            ("sha256:../../../../etc/passwd", "`sha256:../../../../etc/passwd`"),
            ("sha256:ba7816bf8f01cfea…", "`sha256:ba7816bf8f01cfea…`"),
            (" sha256:ba7816bf8f01cfea", "` sha256:ba7816bf8f01cfea`"),
            ("sha256:ba7816bf8f01\0\n\u{1b}", "`sha256:ba7816bf8f01\\0\\n\\u{1b}`"),
            ("sha256:ｂａ７８１６ｂｆ８ｆ０１", "`sha256:ｂａ７８１６ｂｆ８ｆ０１`"),
            (long.as_str(), &format!("`{long}`")),
            (endless.as_str(), &format!("`{}…`", "x".repeat(128))),
        ];
        for (written, named) in cases {
            let error = digits_of(written).unwrap_err();
            assert_eq!(error.to_string(), format!("{named} names no kept result"));
            assert_eq!(error.hint(), Some("write `sha256:` and at least 12 of its hexadecimal digits"));
        }
    }
}
