//! `JsonWriter`: JSON written as it is produced. What servers sent goes through as the bytes it came in, however much of it there is.

use std::io::{Result, Write};

use toolgate::RawJson;

/// What is put together before it is written: most keys and texts fit.
const PIECE_BYTES: usize = 192;

/// Longest piece written to a terminal in one call, in bytes.
const TERMINAL_PIECE_BYTES: usize = 64 * 1024;

/// Writes one JSON value.
pub(crate) struct JsonWriter<'a> {
    out: &'a mut dyn Write,
}

/// Writes the members of an object.
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut dyn Write,
    is_empty: bool,
}

/// Writes the elements of an array.
pub(crate) struct ArrayWriter<'a> {
    out: &'a mut dyn Write,
    is_empty: bool,
}

/// Small parts in one go: there are a dozen of them in every object, and what is behind `out` has to be found for each.
fn together(out: &mut dyn Write, parts: [&str; 3]) -> Result<()> {
    let mut piece = [0; PIECE_BYTES];
    let mut end = 0;
    for part in parts {
        match piece.get_mut(end..end + part.len()) {
            Some(place) => place.copy_from_slice(part.as_bytes()),
            None => return parts.iter().try_for_each(|part| out.write_all(part.as_bytes())),
        }
        end += part.len();
    }
    out.write_all(piece.get(..end).unwrap_or_default())
}

impl<'a> JsonWriter<'a> {
    /// A writer of one value.
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// An object.
    pub(crate) fn object(&mut self, members: impl FnOnce(&mut ObjectWriter<'_>) -> Result<()>) -> Result<()> {
        self.out.write_all(b"{")?;
        members(&mut ObjectWriter { out: self.out, is_empty: true })?;
        self.out.write_all(b"}")
    }

    /// An array.
    pub(crate) fn array(&mut self, elements: impl FnOnce(&mut ArrayWriter<'_>) -> Result<()>) -> Result<()> {
        self.out.write_all(b"[")?;
        elements(&mut ArrayWriter { out: self.out, is_empty: true })?;
        self.out.write_all(b"]")
    }

    /// A string.
    pub(crate) fn string(&mut self, text: &str) -> Result<()> {
        let is_escaped = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
        if text.bytes().any(is_escaped) {
            serde_json::to_writer(&mut *self.out, text).map_err(Into::into)
        } else {
            together(self.out, ["\"", text, "\""])
        }
    }

    /// A number.
    pub(crate) fn number(&mut self, number: u64) -> Result<()> {
        serde_json::to_writer(&mut *self.out, &number).map_err(Into::into)
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, flag: bool) -> Result<()> {
        self.out.write_all(if flag { b"true" } else { b"false" })
    }

    /// `null`.
    pub(crate) fn null(&mut self) -> Result<()> {
        self.out.write_all(b"null")
    }

    /// A value as it came, without the line breaks that may stand between its parts: one object is one line.
    pub(crate) fn raw(&mut self, value: &RawJson) -> Result<()> {
        let bytes = value.as_bytes();
        if !bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return self.out.write_all(bytes);
        }
        // In JSON a line break can only stand between parts, never inside a string.
        for part in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
            self.out.write_all(part)?;
        }
        Ok(())
    }
}

impl ObjectWriter<'_> {
    /// A member whose value `write` writes. Its key is a word of ours, in which nothing has to be escaped.
    pub(crate) fn member(
        &mut self,
        key: &'static str,
        write: impl FnOnce(&mut JsonWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        together(self.out, [if self.is_empty { "\"" } else { ",\"" }, key, "\":"])?;
        self.is_empty = false;
        write(&mut JsonWriter::new(self.out))
    }

    /// A string.
    pub(crate) fn string(&mut self, key: &'static str, text: &str) -> Result<()> {
        self.member(key, |json| json.string(text))
    }

    /// A string or `null`.
    pub(crate) fn optional_string(&mut self, key: &'static str, text: Option<&str>) -> Result<()> {
        self.member(key, |json| match text {
            Some(text) => json.string(text),
            None => json.null(),
        })
    }

    /// A number.
    pub(crate) fn number(&mut self, key: &'static str, number: u64) -> Result<()> {
        self.member(key, |json| json.number(number))
    }

    /// A number or `null`.
    pub(crate) fn optional_number(&mut self, key: &'static str, number: Option<u64>) -> Result<()> {
        self.member(key, |json| match number {
            Some(number) => json.number(number),
            None => json.null(),
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &'static str, flag: bool) -> Result<()> {
        self.member(key, |json| json.flag(flag))
    }

    /// A value as it came, or `null`.
    pub(crate) fn raw(&mut self, key: &'static str, value: Option<&RawJson>) -> Result<()> {
        self.member(key, |json| match value {
            Some(value) => json.raw(value),
            None => json.null(),
        })
    }

    /// An array with an element for each item.
    pub(crate) fn array<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut JsonWriter<'_>, T) -> Result<()>,
    ) -> Result<()> {
        self.member(key, |json| {
            json.array(|array| {
                for item in items {
                    array.element(|json| write(json, item))?;
                }
                Ok(())
            })
        })
    }
}

impl ArrayWriter<'_> {
    /// An element that `write` writes.
    pub(crate) fn element(&mut self, write: impl FnOnce(&mut JsonWriter<'_>) -> Result<()>) -> Result<()> {
        if !self.is_empty {
            self.out.write_all(b",")?;
        }
        self.is_empty = false;
        write(&mut JsonWriter::new(self.out))
    }
}

/// Passes JSON on to a terminal: characters that act on terminals, which JSON allows inside strings, become `\u` escapes. Programs read
/// the same value.
pub(crate) struct ForTerminal<W: Write> {
    out: W,
    /// A character whose bytes have not all arrived.
    begun: Vec<u8>,
}

impl<W: Write> ForTerminal<W> {
    /// Passes on to `out`.
    pub(crate) const fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for ForTerminal<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        // The next write continues with the rest.
        let bytes = bytes.get(..TERMINAL_PIECE_BYTES).unwrap_or(bytes);
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8(text).unwrap_or_default();
        let mut plain_from = 0;
        for (at, letter) in text.char_indices().filter(|(_, letter)| acts_on_terminals(*letter)) {
            self.out.write_all(text.as_bytes().get(plain_from..at).unwrap_or_default())?;
            write!(self.out, "\\u{:04x}", u32::from(letter))?;
            plain_from = at + letter.len_utf8();
        }
        self.out.write_all(text.as_bytes().get(plain_from..).unwrap_or_default())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// DEL, the second set of control characters, and those that turn the direction of writing.
const fn acts_on_terminals(letter: char) -> bool {
    matches!(letter, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use toolgate::RawJson;

    use super::{ForTerminal, JsonWriter};

    #[test]
    fn values_are_written_as_they_come() {
        let mut bytes = Vec::new();
        let raw = RawJson::from_bytes("{\"a\" :\r\n [1e2,\n \"\\n\"]}").unwrap();
        JsonWriter::new(&mut bytes)
            .object(|object| {
                object.string("text", "a\"b\u{1b}")?;
                object.optional_string("none", None)?;
                object.raw("raw", Some(&raw))?;
                object.raw("nothing", None)?;
                object.flag("flag", true)?;
                object.optional_number("size", None)?;
                object.array("list", [1, 2], |json, number| json.number(number))?;
                object.array("empty", [], |json, number| json.number(number))
            })
            .unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"text":"a\"b\u001b","none":null,"raw":{"a" : [1e2, "\n"]},"nothing":null,"flag":true,"size":null,"list":[1,2],"empty":[]}"#
        );
    }

    #[test]
    fn what_acts_on_terminals_is_escaped_wherever_writes_are_cut() {
        let text = "{\"a\":\"\u{9b}2J 工具 \u{202e}x\u{7f}\"}";
        let escaped = r#"{"a":"\u009b2J 工具 \u202ex\u007f"}"#;
        for size in 1..text.len() {
            let mut shown = Vec::new();
            let mut out = ForTerminal::new(&mut shown);
            for piece in text.as_bytes().chunks(size) {
                out.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(shown).unwrap(), escaped, "in pieces of {size}");
        }
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(text), read(escaped));
    }
}
