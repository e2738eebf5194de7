//! Sealing one entry: nobody without the key can read it, change it, or put it where another one was.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::secret::Secret;

const KEY_BYTES: usize = 32;

/// What entries are sealed with.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SealKey([u8; KEY_BYTES]);

impl SealKey {
    /// A new one. `None` when the machine has no randomness.
    pub(super) fn make() -> Option<Self> {
        let mut bytes = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// The key that `to_text` gave as a text.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        STANDARD.decode(text.trim()).ok()?.try_into().ok().map(Self)
    }

    /// The key as a text (Base64).
    pub(super) fn to_text(&self) -> Secret {
        Secret::new(STANDARD.encode(self.0))
    }

    /// Seals a text. It opens again only with the same words in `about`. `None` when the machine has no randomness.
    pub(super) fn seal(&self, about: &str, text: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let aad = Aad::from(about.as_bytes());
        self.cipher()?.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).ok()?;
        let mut whole = nonce.to_vec();
        whole.append(&mut sealed);
        Some(STANDARD.encode(whole))
    }

    /// Opens what was sealed. `None` when it was sealed with another key or about something else, or is not as it was.
    pub(super) fn open(&self, about: &str, sealed: &str) -> Option<Secret> {
        let whole = STANDARD.decode(sealed).ok()?;
        let (nonce, sealed) = whole.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let aad = Aad::from(about.as_bytes());
        let text = self.cipher()?.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut sealed).ok()?;
        std::str::from_utf8(text).ok().map(Secret::new)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0).ok().map(LessSafeKey::new)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::SealKey;

    #[test]
    fn only_the_same_key_about_the_same_thing_opens_what_was_not_changed() {
        let key = SealKey::make().unwrap();
        let sealed = key.seal("this", "a token").unwrap();
        assert!(!sealed.contains("token"));
        assert_ne!(key.seal("this", "a token").unwrap(), sealed, "the same text is never sealed the same way twice");
        assert_eq!(key.open("this", &sealed).unwrap().expose(), "a token");
        let again = SealKey::from_text(key.to_text().expose()).unwrap();
        assert_eq!(again.open("this", &sealed).unwrap().expose(), "a token");
        assert_eq!(key.open("that", &sealed), None);
        assert_eq!(SealKey::make().unwrap().open("this", &sealed), None);
        for index in 0..sealed.len() {
            let mut letters: Vec<char> = sealed.chars().collect();
            letters[index] = if letters[index] == 'A' { 'B' } else { 'A' };
            let changed: String = letters.into_iter().collect();
            assert_eq!(key.open("this", &changed), None, "{index}");
        }
        for text in ["", "AAAA", "not Base64!", "AAAAAAAAAAAAAAAA"] {
            assert_eq!(key.open("this", text), None, "{text}");
            assert_eq!(SealKey::from_text(text), None, "{text}");
        }
        assert_eq!(format!("{key:?}"), "SealKey(…)");
    }
}
