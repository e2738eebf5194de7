//! Percent-encoding, as far as it can make one path look like another.

/// The text with `%41` turned into what it means; what means no text stays.
pub(crate) fn decoded(text: &str) -> String {
    String::from_utf8(bytes_of(text)).unwrap_or_else(|_| text.to_owned())
}

/// The text as lenient readers decode it: overlong codes become their letters, and other invalid codes become marks.
pub(super) fn decoded_anyway(text: &str) -> String {
    let bytes = bytes_of(text);
    if std::str::from_utf8(&bytes).is_ok() {
        return text.to_owned();
    }
    let mut short = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after.split_first()) {
            (lead @ 0xc0..=0xc1, Some((low @ 0x80..=0xbf, after))) => (((lead & 1) << 6) | (low & 0x3f), after),
            _ => (*first, after),
        };
        short.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&short).into_owned()
}

fn bytes_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let digits = after.first_chunk::<2>().and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits
            .filter(|digits| *first == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => bytes.push(*first),
        }
    }
    bytes
}

/// Whether it contains codes that only some programs decode: separators, quotes, control characters, and `%` itself.
pub(super) fn hides_structure(text: &str) -> bool {
    let is_hidden =
        |code: u8| code < b' ' || matches!(code, 0x7f | b'.' | b'/' | b'\\' | b'%' | b'"' | b'\'' | b'`' | b'~' | b':');
    text.split('%').skip(1).any(|rest| {
        let digits = rest.as_bytes().first_chunk::<2>().and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).is_some_and(is_hidden)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decoded_once() {
        let cases = [
            ("a%2fb", "a/b"),
            ("%41%4", "A%4"),
            ("%", "%"),
            ("%zz", "%zz"),
            ("%252e", "%2e"),
            ("%C3%A4", "ä"),
            ("%ff", "%ff"),
            ("%+1", "%+1"),
        ];
        for (text, expected) in cases {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }
}
