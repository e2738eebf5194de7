//! The text of a schema, read whatever its nesting.

use std::borrow::Cow;

use serde_json::Value;

use super::limits::{SCHEMA_BYTES_MAX, SOURCE_DEPTH_MAX};

/// A schema as it was read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) schema: Value,
    /// Whether parts were too deep to be read.
    pub(super) is_cut: bool,
}

/// Reads a schema. The error is a reason for people.
pub(super) fn read(text: &str) -> Result<Source, String> {
    if text.len() > SCHEMA_BYTES_MAX {
        let most = SCHEMA_BYTES_MAX / 1024 / 1024;
        return Err(format!("its schema has {} MB; at most {most} MB are read", text.len().div_ceil(1024 * 1024)));
    }
    let shallow = shallow(text);
    let is_cut = matches!(shallow, Cow::Owned(_));
    let schema = serde_json::from_str(&shallow).map_err(|error| format!("its schema is not JSON: {error}"))?;
    Ok(Source { schema, is_cut })
}

/// The same JSON with `true`, which says nothing as a schema, for everything that is nested too deep. Only brackets are looked at.
fn shallow(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut copied = 0;
    let mut depth = 0_usize;
    let mut cut_at = None;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > SOURCE_DEPTH_MAX && cut_at.is_none() {
                    cut_at = Some(at);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if let Some(start) = cut_at.filter(|_| depth == SOURCE_DEPTH_MAX) {
                    kept.push_str(text.get(copied..start).unwrap_or_default());
                    kept.push_str("true");
                    copied = at + 1;
                    cut_at = None;
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn any_nesting_is_read() {
        for (levels, is_cut) in [(1, false), (119, false), (120, true), (500, true), (100_000, true)] {
            let text = format!(r#"{}{{"title":"}}{{"}}{}"#, r#"{"not":"#.repeat(levels), "}".repeat(levels));
            let source = read(&text).unwrap();
            assert_eq!(source.is_cut, is_cut, "{levels}");
        }
        for text in ["", "{", r#"{"a":}"#, "]"] {
            assert!(read(text).unwrap_err().starts_with("its schema is not JSON"), "{text}");
        }
        let deep_and_open = "[".repeat(300);
        assert!(read(&deep_and_open).is_err());
    }
}
