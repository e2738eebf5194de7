//! Bytes as hexadecimal digits, two each.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The digits of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| DIGITS[usize::from(half)];
    let mut digits = vec![0; bytes.len() * 2];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0x0f)]);
    }
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
