//! `RawJson`: one JSON value kept as the bytes it arrived in.
//!
//! Payloads travel through the wire in this form. The bytes are shared, never copied, and parsed only by whoever
//! looks inside; what nobody understands therefore leaves exactly as it came.

use std::borrow::Cow;
use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use bytestring::ByteString;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::limits::{JSON_DEPTH_MAX, LimitBreach};
use crate::scan;

/// Values above this size are worth a search before they are parsed.
const SEARCH_FIRST_BYTES: usize = 4096;

/// One valid JSON value in UTF-8, without white space around it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Bytes);

impl RawJson {
    /// The value `{}`.
    pub const EMPTY_OBJECT: Self = Self(Bytes::from_static(b"{}"));
    /// The value `null`.
    pub const NULL: Self = Self(Bytes::from_static(b"null"));

    /// Checks text that came from outside.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let value: &RawValue = serde_json::from_slice(&bytes).map_err(|error| json_error(&error))?;
        Ok(Self(bytes.slice_ref(value.get().as_bytes())))
    }

    /// Writes a value of our own.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        let bytes =
            serde_json::to_vec(value).map_err(|error| Error::protocol(format!("cannot write JSON: {error}")))?;
        Ok(Self(bytes.into()))
    }

    /// A JSON string.
    pub fn string(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len() + 2);
        write_string(&mut bytes, text);
        Self(bytes.into())
    }

    /// The part of this value that `part` borrows, sharing its bytes.
    ///
    /// `part` must have been read out of this value; anything else is copied.
    pub fn share(&self, part: &RawValue) -> Self {
        Self::part_of(&self.0, part)
    }

    /// The part of `bytes` that `part` borrows, sharing them. Serde has checked it when it read it out of them.
    ///
    /// `part` must have been read out of these bytes; anything else is copied.
    pub fn part_of(bytes: &Bytes, part: &RawValue) -> Self {
        let part = part.get().as_bytes();
        let range = bytes.as_ptr_range();
        if range.contains(&part.as_ptr()) { Self(bytes.slice_ref(part)) } else { Self(Bytes::copy_from_slice(part)) }
    }

    /// Text that was checked when it came in and is known to be unchanged since, as what is behind a checksum.
    pub const fn unchanged(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Text put together from values that were checked before.
    pub(crate) fn assembled(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        debug_assert!(serde_json::from_slice::<&RawValue>(&bytes).is_ok(), "{bytes:?}");
        Self(bytes)
    }

    /// Reads the value into a type; the type may borrow from it.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        serde_json::from_slice(&self.0).map_err(|error| json_error(&error))
    }

    /// The JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The JSON text, sharing its bytes.
    pub fn to_bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// The JSON text as a string.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The value, if it has at most `parts_max` parts: in memory each part takes some hundred bytes, even if its text is short.
    pub fn value_within(&self, parts_max: usize) -> Result<Value, Error> {
        if scan::has_more_parts_than(&self.0, parts_max) {
            return Err(Error::protocol(format!("it has more than {parts_max} parts")));
        }
        self.read()
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        &self.0[..] == b"null"
    }

    /// The member `key` of an object, sharing its bytes; `None` when there is none or this is no object.
    pub fn member(&self, key: &str) -> Option<Self> {
        let is_large = self.0.len() > SEARCH_FIRST_BYTES;
        if !self.is_object() || (is_large && !needs_escape(key) && !mentions(&self.0, key.as_bytes())) {
            return None; // A large value is searched before it is parsed.
        }
        scan::find_member(&self.0, |name| is_key(name, key)).map(|value| self.part(value))
    }

    /// The members of an object in the order they stand; empty when this is no object.
    pub fn members(&self) -> Vec<(String, Self)> {
        let members = scan::members(&self.0).unwrap_or_default();
        members.into_iter().map(|(name, value)| (key_text(name).into_owned(), self.part(value))).collect()
    }

    /// The first `max` members of an object, and the number of the others. `None` when this is not an object.
    pub fn members_within(&self, max: usize) -> (Vec<(String, Self)>, usize) {
        let (mut members, mut others) = (Vec::new(), 0_usize);
        let told = scan::each_member(&self.0, |name, value| {
            if members.len() < max {
                members.push((key_text(name).into_owned(), self.part(value)));
            } else {
                others += 1;
            }
        });
        told.map(|()| (members, others)).unwrap_or_default()
    }

    /// The elements of an array; `None` when this is no array.
    pub fn elements(&self) -> Option<Vec<Self>> {
        let elements = scan::elements(&self.0)?;
        Some(elements.into_iter().map(|element| self.part(element)).collect())
    }

    /// The first `max` elements of an array, and the number of the others. `None` when this is not an array.
    pub fn elements_within(&self, max: usize) -> Option<(Vec<Self>, usize)> {
        let (elements, others) = scan::elements_within(&self.0, max)?;
        Some((elements.into_iter().map(|element| self.part(element)).collect(), others))
    }

    /// A value within this one.
    pub(crate) fn part(&self, value: &[u8]) -> Self {
        Self(self.0.slice_ref(value))
    }

    /// The text that this value is; `None` when it is something else. One without escapes shares its bytes.
    pub fn to_text(&self) -> Option<ByteString> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        match memchr::memchr(b'\\', inner) {
            None => ByteString::try_from(self.0.slice_ref(inner)).ok(),
            Some(_) => self.read::<String>().ok().map(ByteString::from),
        }
    }

    /// The same object with `key` set to `value`; every other byte stays as it is.
    pub fn with_member(&self, key: &str, value: &Self) -> Self {
        let mut out = BytesMut::with_capacity(self.0.len() + key.len() + value.0.len() + 8);
        let old = self.member(key).map(|old| {
            let start = old.0.as_ptr() as usize - self.0.as_ptr() as usize;
            start..start + old.0.len()
        });
        if let Some(old) = old {
            out.extend_from_slice(&self.0[..old.start]);
            out.extend_from_slice(&value.0);
            out.extend_from_slice(&self.0[old.end..]);
        } else {
            out.extend_from_slice(b"{");
            write_string(&mut out, key);
            out.extend_from_slice(b":");
            out.extend_from_slice(&value.0);
            let rest = if self.is_object() { &self.0[1..] } else { &b"}"[..] };
            if rest.trim_ascii_start() != b"}" {
                out.extend_from_slice(b",");
            }
            out.extend_from_slice(rest);
        }
        Self(out.freeze())
    }
}

/// Whether a key that is written like this is `key`.
pub(crate) fn is_key(written: &[u8], key: &str) -> bool {
    if written.contains(&b'\\') { key_text(written) == key } else { written == key.as_bytes() }
}

/// The key that is written like this.
pub(crate) fn key_text(written: &[u8]) -> Cow<'_, str> {
    if !written.contains(&b'\\') {
        return String::from_utf8_lossy(written);
    }
    let quoted = [b"\"", written, b"\""].concat();
    serde_json::from_slice::<Key>(&quoted).map(|Key(key)| key.into()).unwrap_or_default()
}

/// A key that has escapes. Half a surrogate pair, which is no character, is replaced: it must not hide the other members.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(String::from_utf8_lossy(key).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

/// Whether `needle` may be said anywhere in `bytes`: as it is, or spelled with escapes (`\u005f`, `\/`) that some writers like.
///
/// Small inputs, which most are, do not pay for setting up a fast search; a needle that begins with a rare byte is found fastest.
pub(crate) fn mentions(bytes: &[u8], needle: &[u8]) -> bool {
    let Some((first, rest)) = needle.split_first() else { return true };
    if bytes.len() > SEARCH_FIRST_BYTES {
        return [needle, b"\\u", b"\\/"].iter().any(|text| memchr::memmem::find(bytes, text).is_some());
    }
    memchr::memchr_iter(*first, bytes).any(|at| bytes[at + 1..].starts_with(rest))
        || memchr::memchr_iter(b'\\', bytes).any(|at| matches!(bytes.get(at + 1), Some(b'u' | b'/')))
}

/// Writes `text` as a JSON string.
pub(crate) fn write_string(out: &mut impl BufMut, text: &str) {
    if needs_escape(text) {
        out.put_slice(serde_json::to_string(text).unwrap_or_default().as_bytes());
    } else {
        out.put_u8(b'"');
        out.put_slice(text.as_bytes());
        out.put_u8(b'"');
    }
}

/// Whether `text` cannot stand in JSON as it is.
fn needs_escape(text: &str) -> bool {
    // Without an early exit inside a block, the compiler looks at many bytes at a time.
    let in_block = |block: &[u8]| {
        block.iter().fold(false, |found, byte| found | (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20))
    };
    text.as_bytes().chunks(64).any(in_block)
}

/// Keeps the presence of a field apart from its being `null`.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// What went wrong in somebody's JSON, with the breach of the depth limit named.
pub(crate) fn json_error(error: &serde_json::Error) -> Error {
    // Words of the other side may stand in it, at any length.
    let text: String = error.to_string().chars().take(200).collect();
    if text.starts_with("recursion limit") {
        return Error::Limit(LimitBreach::new("JSON_DEPTH_MAX", JSON_DEPTH_MAX, "JSON nested too deeply"));
    }
    Error::protocol(format!("not the expected JSON: {text}"))
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        Ok(Self(Bytes::copy_from_slice(value.get().as_bytes())))
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &'static str) -> RawJson {
        RawJson::from_bytes(text).unwrap()
    }

    #[test]
    fn a_member_is_set_without_touching_the_rest() {
        let cases = [
            ("{}", r#"{"k":1}"#),
            ("{ }", r#"{"k":1 }"#),
            (r#"{"a": 1e2}"#, r#"{"k":1,"a": 1e2}"#),
            (r#"{"a":"k","k" : {"x":[1, 2]} ,"b":0}"#, r#"{"a":"k","k" : 1 ,"b":0}"#),
        ];
        for (before, after) in cases {
            assert_eq!(raw(before).with_member("k", &raw("1")).as_str(), after);
        }
    }

    #[test]
    fn members_share_the_bytes_they_came_in() {
        let object = raw(r#"{"a":{"deep":[1,2,3]},"b":12345678901234567890123}"#);
        let a = object.member("a").unwrap();
        assert_eq!(a.as_str(), r#"{"deep":[1,2,3]}"#);
        assert!(object.as_bytes().as_ptr_range().contains(&a.as_bytes().as_ptr()));
        assert_eq!(object.member("b").unwrap().as_str(), "12345678901234567890123");
        assert!(object.member("deep").is_none(), "only the outermost level counts");
    }

    #[test]
    fn a_member_is_found_however_its_key_is_spelled_and_however_large_the_rest_is() {
        let cases = [
            (r#""io.modelcontextprotocol\/tasks""#, "io.modelcontextprotocol/tasks"),
            (r#""\u005fmeta""#, "_meta"),
            (r#""a\"b""#, "a\"b"),
            (r#""a\nb""#, "a\nb"),
            (r#""plain""#, "plain"),
        ];
        for (spelled, key) in cases {
            for room in [0, 2 * SEARCH_FIRST_BYTES] {
                let text = format!("{{{}\"\\ud800\":0,{spelled}:7}}", " ".repeat(room));
                let object = RawJson::from_bytes(text).unwrap();
                assert_eq!(object.member(key), Some(raw("7")), "{spelled}, {room} spaces before it");
                assert_eq!(
                    object.with_member(key, &raw("8")).member(key),
                    Some(raw("8")),
                    "{spelled}, {room} spaces before it"
                );
                assert_eq!(object.with_member("new\t", &raw("9")).member("new\t"), Some(raw("9")));
                assert_eq!(object.member("absent"), None);
            }
        }
    }

    #[test]
    fn an_error_does_not_repeat_all_it_was_told() {
        let error = RawJson::string(&"x".repeat(100_000)).read::<u64>().unwrap_err();
        assert!(error.to_string().len() < 500, "{} bytes", error.to_string().len());
    }

    #[test]
    fn too_deep_is_named_as_such_where_it_is_looked_into() {
        let deep = raw(Box::leak(format!("{}{}", "[".repeat(5000), "]".repeat(5000)).into_boxed_str()));
        let error = deep.read::<serde_json::Value>().unwrap_err();
        assert!(error.to_string().contains("JSON_DEPTH_MAX"), "{error}");
    }

    #[test]
    fn strings_are_quoted() {
        assert_eq!(RawJson::string("a\"b\n").as_str(), r#""a\"b\n""#);
        assert_eq!(RawJson::string("plain").as_str(), r#""plain""#);
    }
}
