//! References within one JSON document: from the fragment of a `$ref` to a JSON pointer.

/// The JSON pointer of a fragment, percent-escapes resolved; names stay escaped as pointers want them.
pub(crate) fn pointer_of(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_become_pointers() {
        let cases = [
            ("", ""),
            ("/$defs/A", "/$defs/A"),
            ("/$defs/List%5BItem%5D", "/$defs/List[Item]"),
            ("/a~1b/c~0d/~01", "/a~1b/c~0d/~01"),
            ("/100%/%zz/%e", "/100%/%zz/%e"),
            ("/%C3%A4", "/ä"),
        ];
        for (fragment, pointer) in cases {
            assert_eq!(pointer_of(fragment), pointer);
        }
    }
}
