//! The key that names of files are made with. What a server is meant to be may hold secrets, so their names must not be something that
//! guesses can be compared with.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{HMAC_SHA256, Key};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::{Error, ErrorKind, Result};
use crate::state_file::{self, Privacy};

const KEY_BYTES: usize = 32;

/// The file: 44 letters and the end of a line.
const FILE_BYTES_MAX: usize = 64;

/// The key, when there is one that can be used.
pub(super) fn read(path: &Path) -> Result<Option<Key>> {
    Ok(state_file::read(path, FILE_BYTES_MAX)?.as_deref().and_then(from_text))
}

/// The key, made when there is none. Of several processes that make it at once, all have the same.
pub(super) fn read_or_make(path: &Path) -> Result<Key> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    let mut key = None;
    state_file::update(path, Privacy::Owner, FILE_BYTES_MAX, |old| {
        key = old.and_then(from_text);
        if key.is_some() {
            return Ok(None);
        }
        let mut bytes = [0; KEY_BYTES];
        let no_randomness = || Error::new(ErrorKind::State, "the machine has no randomness");
        SystemRandom::new().fill(&mut bytes).map_err(|_| no_randomness())?;
        let text = format!("{}\n", STANDARD.encode(bytes));
        key = from_text(&text);
        Ok(Some(text))
    })?;
    key.ok_or_else(|| Error::new(ErrorKind::State, format!("{}: the key cannot be read again", path.display())))
}

fn from_text(text: &str) -> Option<Key> {
    let bytes: [u8; KEY_BYTES] = STANDARD.decode(text.trim()).ok()?.try_into().ok()?;
    Some(Key::new(HMAC_SHA256, &bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use ring::hmac::{Key, sign};

    use super::{read, read_or_make};

    fn mark(key: &Key) -> Vec<u8> {
        sign(key, b"x").as_ref().to_vec()
    }

    #[test]
    fn whoever_comes_at_once_has_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogues/key");
        assert!(read(&path).unwrap().is_none() && !path.exists(), "reading makes nothing");
        let marks: HashSet<Vec<u8>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| mark(&read_or_make(&path).unwrap()))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(marks.len(), 1);
        assert_eq!(HashSet::from([mark(&read(&path).unwrap().unwrap())]), marks);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
    }

    #[test]
    fn a_key_that_is_none_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let mut seen = HashSet::new();
        for text in ["", "short", "AAAA", "!!!!", &"A".repeat(44), &format!("{}\n{}\n", "A".repeat(28), "A".repeat(20))]
        {
            fs::write(&path, text).unwrap();
            assert!(read(&path).unwrap().is_none(), "{text:?}");
            assert!(seen.insert(mark(&read_or_make(&path).unwrap())), "{text:?}");
            assert!(read(&path).unwrap().is_some());
        }
        for text in [vec![0xff; 10], vec![b'A'; 100]] {
            fs::write(&path, &text).unwrap();
            assert!(read(&path).is_err() && read_or_make(&path).is_err(), "nobody's file is overwritten");
            assert_eq!(fs::read(&path).unwrap(), text);
        }
    }
}
