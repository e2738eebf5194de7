//! Finds the parts of JSON that is known to be valid, without checking it once more: over long texts it goes as fast as memory does. Pure.

use memchr::memchr2;

/// The members of an object in the order they stand: keys as they are written between their quotes, and values. `None` when this is none.
pub(crate) fn members(object: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut members = Vec::new();
    each_member(object, |key, value| members.push((key, value))).map(|()| members)
}

/// The same, told one after the other.
pub(crate) fn each_member<'a>(object: &'a [u8], mut tell: impl FnMut(&'a [u8], &'a [u8])) -> Option<()> {
    let mut walk = Walk { bytes: object, at: 0 };
    walk.take(b'{')?;
    if walk.take(b'}').is_some() {
        return Some(());
    }
    loop {
        walk.skip_blanks();
        let key = walk.text()?;
        walk.take(b':')?;
        tell(key, walk.value()?);
        if walk.take(b',').is_none() {
            return walk.take(b'}');
        }
    }
}

/// The first member with one of the wanted keys, compared as written. An object of millions of members takes no extra memory.
pub(crate) fn find_member(object: &[u8], is_meant: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    let mut found = None;
    each_member(object, |key, value| {
        if found.is_none() && is_meant(key) {
            found = Some(value);
        }
    })?;
    found
}

/// The elements of an array. `None` when this is none.
pub(crate) fn elements(array: &[u8]) -> Option<Vec<&[u8]>> {
    elements_within(array, usize::MAX).map(|(elements, _)| elements)
}

/// The first `max` elements of an array, and the number of the others.
pub(crate) fn elements_within(array: &[u8], max: usize) -> Option<(Vec<&[u8]>, usize)> {
    let mut walk = Walk { bytes: array, at: 0 };
    let (mut elements, mut others) = (Vec::new(), 0_usize);
    walk.take(b'[')?;
    if walk.take(b']').is_some() {
        return Some((elements, others));
    }
    loop {
        let element = walk.value()?;
        if elements.len() < max {
            elements.push(element);
        } else {
            others += 1;
        }
        if walk.take(b',').is_none() {
            return walk.take(b']').map(|()| (elements, others));
        }
    }
}

/// Whether a value has more parts than that: members and elements at every level, and their containers.
pub(crate) fn has_more_parts_than(json: &[u8], max: usize) -> bool {
    if json.len() <= max {
        return false; // No part has less than one byte.
    }
    let mut walk = Walk { bytes: json, at: 0 };
    let mut parts = 1_usize;
    while let Some(byte) = walk.peek() {
        match byte {
            b'"' if walk.text().is_some() => continue,
            b',' | b'{' | b'[' => parts += 1,
            _ => {}
        }
        if parts > max {
            return true;
        }
        walk.at += 1;
    }
    parts > max
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes behind `byte`, when that is what comes next.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.skip_blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Some(());
        }
        None
    }

    /// What stands between the quotes of the text that begins here.
    fn text(&mut self) -> Option<&'a [u8]> {
        let start = self.at + 1;
        let mut from = start;
        loop {
            let end = from + memchr2(b'"', b'\\', self.bytes.get(from..)?)?;
            if self.bytes.get(end) == Some(&b'"') {
                self.at = end + 1;
                return self.bytes.get(start..end);
            }
            from = end + 2; // What is escaped ends nothing.
        }
    }

    /// The value that comes next.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let start = self.at;
        match self.peek()? {
            b'"' => drop(self.text()?),
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                while !matches!(self.peek(), None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')) {
                    self.at += 1;
                }
            }
        }
        self.bytes.get(start..self.at)
    }

    /// Goes behind an object or an array, however deep it is.
    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let from = self.at;
            for (passed, byte) in self.bytes.get(from..)?.iter().enumerate() {
                match byte {
                    b'"' => {
                        self.at = from + passed;
                        break;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth = depth.checked_sub(1)?;
                        if depth == 0 {
                            self.at = from + passed + 1;
                            return Some(());
                        }
                    }
                    _ => {}
                }
            }
            // At a string, or at the end of invalid JSON.
            if self.peek()? != b'"' {
                return None;
            }
            self.text()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
    use serde_json::value::RawValue;
    use serde_json::{Map, Value};

    use super::{elements, elements_within, find_member, has_more_parts_than, members};

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn parts_are_what_stands_there() {
        let object = " { \"a\\\"\\\\\" : [1, {\"}\": \"]\"}] ,\"b\":\"x\\\\\",\n\"\":-1.5e3 , \"c\":null}";
        let found: Vec<_> = members(object.as_bytes()).unwrap().into_iter().map(|(k, v)| (text(k), text(v))).collect();
        let expected =
            [("a\\\"\\\\", "[1, {\"}\": \"]\"}]"), ("b", "\"x\\\\\""), ("", "-1.5e3"), ("c", "null")].to_vec();
        assert_eq!(found, expected);
        let first = find_member(b"{\"a\":1,\"b\":2,\"a\":3}", |key| key == b"a").map(text);
        assert_eq!((first, find_member(b"{\"a\":1", |key| key == b"a")), (Some("1"), None));
        let counts =
            [(&b"[1,2,3]"[..], 4), (b"[1,[2,3]]", 5), (b"\"a,b,c,[{\"", 1), (b"{\"a,,,,\":1}", 2), (b"[[[]]]", 4)];
        for (json, parts) in counts {
            assert!(!has_more_parts_than(json, parts) && has_more_parts_than(json, parts - 1), "{}", text(json));
        }
        let within = |max| elements_within(b"[1,2,3]", max).map(|(first, others)| (first.len(), others));
        assert_eq!([within(0), within(2), within(3)], [Some((0, 3)), Some((2, 1)), Some((3, 0))]);
        let array = "[ [], {} ,\"],\", true,0 ]";
        let found: Vec<_> = elements(array.as_bytes()).unwrap().into_iter().map(text).collect();
        assert_eq!(found, ["[]", "{}", "\"],\"", "true", "0"]);
        assert_eq!((members(b"{}").map(|all| all.len()), elements(b" [ ] ").map(|all| all.len())), (Some(0), Some(0)));
    }

    #[test]
    fn what_is_no_such_thing_has_no_parts() {
        for other in
            ["", "1", "\"{\"", "[1", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"b", "[\"\\", "[[", "{\"a\\", "]"]
        {
            assert!(members(other.as_bytes()).is_none() && elements(other.as_bytes()).is_none(), "{other}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\"\\\\{}\\[\\],: a-zä\n]{0,12}".prop_map(Value::from),
        ];
        plain.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map("[\"\\\\{}:, a-c]{0,4}", inner, 0..6)
                    .prop_map(|members| Value::Object(Map::from_iter(members))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_parser_finds_the_same_parts(value in json(), pretty in any::<bool>()) {
            let written =
                if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            match &value {
                Value::Array(_) => {
                    let expected: Vec<&RawValue> = serde_json::from_str(&written).unwrap();
                    let expected: Vec<&str> = expected.into_iter().map(RawValue::get).collect();
                    let found: Vec<&str> = elements(written.as_bytes()).unwrap().into_iter().map(text).collect();
                    assert_eq!(found, expected);
                }
                Value::Object(object) => {
                    let found = members(written.as_bytes()).unwrap();
                    let found: Map<String, Value> = found.into_iter().map(|(key, value)| {
                        (serde_json::from_str(&format!("\"{}\"", text(key))).unwrap(), serde_json::from_slice(value).unwrap())
                    }).collect();
                    assert_eq!(&found, object);
                }
                _ => assert!(members(written.as_bytes()).is_none() && elements(written.as_bytes()).is_none()),
            }
        }
    }
}
