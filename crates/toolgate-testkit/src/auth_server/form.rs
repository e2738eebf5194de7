//! Parameters as queries and form bodies carry them.

use std::fmt::Write as _;

/// Parameters in order, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(pub(crate) Vec<(String, String)>);

impl Form {
    /// Reads `a=b&c=d`.
    pub(crate) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Self(pairs.collect())
    }

    /// The first parameter of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is given twice though it may not be. Only `resource` and `audience` may.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let mut names = std::collections::BTreeSet::new();
        let single =
            self.0.iter().map(|(name, _)| name.as_str()).filter(|name| !matches!(*name, "resource" | "audience"));
        single.into_iter().find(|name| !names.insert(*name))
    }

    /// Writes what [`Form::read`] reads.
    pub(crate) fn write(&self) -> String {
        let pairs: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        pairs.join("&")
    }
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _infallible = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Undoes percent-encoding and `+` for a space.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, escaped) {
            (b'%', Some(value)) => {
                decoded.push(value);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            _ => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Text as it may stand in a page.
pub(crate) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_being_written_and_read() {
        let form = Form(vec![("a b".into(), "1+1=2&ü".into()), ("empty".into(), String::new())]);
        assert_eq!(form.write(), "a%20b=1%2B1%3D2%26%C3%BC&empty=");
        assert_eq!(Form::read(&form.write()), form);
        assert_eq!(
            Form::read("x=a+b&y&%zz=%4"),
            Form(vec![("x".into(), "a b".into()), ("y".into(), String::new()), ("%zz".into(), "%4".into()),])
        );
    }
}
