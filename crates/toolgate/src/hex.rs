//! Bytes as hexadecimal digits, two each.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The digits of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| DIGITS[usize::from(half)];
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0f)]).collect();
    String::from_utf8(digits).unwrap_or_default() // Digits are text.
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex(&[]), "");
        assert_eq!(hex(&[0, 1, 0x9a, 0xff]), "00019aff");
    }
}
