//! `Members`: what a line of the log is about, written by hand. Two lines are written for every call, and nearly all that stands in them stands
//! there as it is.

use std::fmt::Write as _;

use crate::canonical_json;

/// More than most lines take.
const USUAL_BYTES: usize = 1024;

/// The members of an object, without what stands around them.
#[derive(Debug)]
pub(super) struct Members(String);

impl Members {
    /// What `write` writes.
    pub(super) fn of(write: impl FnOnce(&mut Self)) -> String {
        let mut members = Self(String::with_capacity(USUAL_BYTES));
        write(&mut members);
        members.0
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        canonical_json::write_text(value, &mut self.0);
    }

    pub(super) fn text_or_null(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(key, value),
            None => self.json(key, "null"),
        }
    }

    pub(super) fn texts<'t>(&mut self, key: &str, values: impl IntoIterator<Item = &'t str>) {
        self.key(key);
        let mut before = '[';
        for value in values {
            self.0.push(before);
            canonical_json::write_text(value, &mut self.0);
            before = ',';
        }
        self.0.push_str(if before == '[' { "[]" } else { "]" });
    }

    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        let _written = write!(self.0, "{value}").is_ok(); // Writing to a string cannot fail.
    }

    pub(super) fn number_or_null(&mut self, key: &str, value: Option<u64>) {
        match value {
            Some(value) => self.number(key, value),
            None => self.json(key, "null"),
        }
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) {
        self.json(key, if value { "true" } else { "false" });
    }

    /// A value that is JSON already.
    pub(super) fn json(&mut self, key: &str, value: &str) {
        self.key(key);
        self.0.push_str(value);
    }

    /// An object, or `null` where there is nothing to write into it.
    pub(super) fn object_or_null<T>(&mut self, key: &str, of: Option<T>, write: impl FnOnce(&mut Self, T)) {
        let Some(of) = of else { return self.json(key, "null") };
        self.key(key);
        self.0.push('{');
        write(self, of);
        self.0.push('}');
    }

    /// A list of objects.
    pub(super) fn objects<T>(&mut self, key: &str, of: impl IntoIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.key(key);
        self.0.push('[');
        for (nth, one) in of.into_iter().enumerate() {
            self.0.push_str(if nth == 0 { "{" } else { ",{" });
            write(self, one);
            self.0.push('}');
        }
        self.0.push(']');
    }

    fn key(&mut self, key: &str) {
        if !matches!(self.0.as_bytes().last(), None | Some(b'{')) {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(key);
        self.0.push_str("\":");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Members;

    #[test]
    fn what_is_written_is_what_is_read() {
        let written = Members::of(|members| {
            members.text("plain", "é, {");
            members.text("odd", "a\"b\\\n\u{1}");
            members.text_or_null("none", None);
            members.text_or_null("some", Some(""));
            members.texts("no texts", []);
            members.texts("texts", ["a", "\t"]);
            members.number("number", u64::MAX);
            members.number_or_null("no number", None);
            members.number_or_null("a number", Some(0));
            members.flag("flag", true);
            members.json("json", r#"[{"a":1}]"#);
            members.object_or_null("nothing", None::<u8>, |_, _| ());
            members.object_or_null("empty", Some(1), |_, _| ());
            members.object_or_null("object", Some("x"), |inner, x| {
                inner.text("x", x);
                inner.flag("y", false);
            });
            members.objects("no objects", [0; 0], |inner, nth| inner.number("n", nth));
            members.objects("objects", [1, 2], |inner, nth| inner.number("n", nth));
        });
        let read: Value = serde_json::from_str(&format!("{{{written}}}")).unwrap();
        let expected = json!({
            "plain": "é, {", "odd": "a\"b\\\n\u{1}", "none": null, "some": "", "no texts": [], "texts": ["a", "\t"],
            "number": u64::MAX, "no number": null, "a number": 0, "flag": true, "json": [{"a": 1}], "nothing": null,
            "empty": {}, "object": {"x": "x", "y": false}, "no objects": [], "objects": [{"n": 1}, {"n": 2}]
        });
        assert_eq!(read, expected);
    }
}
