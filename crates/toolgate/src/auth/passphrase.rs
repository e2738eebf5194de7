//! Texts locked with a passphrase, as armored `age` files: anybody who knows the passphrase can open them, with `age` as well.

use std::io::Read as _;
use std::iter;

use age::DecryptError;
use age::armor::ArmoredReader;
use age::secrecy::SecretString;

use crate::limits::PASSPHRASE_WORK_LOG2_MAX;
use crate::secret::Secret;

/// What guessing a passphrase costs, as the power of two that scrypt takes: a fraction of a second each time, and 128 MiB.
#[cfg(not(test))]
const WORK_LOG2: u8 = 17;
#[cfg(test)]
const WORK_LOG2: u8 = 8;

/// What a locked text looks like from outside.
const BEGINNING: &str = "-----BEGIN AGE ENCRYPTED FILE-----";

/// Why a text could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// The passphrase or the identity is another one.
    WrongKey,
    /// It was locked with a passphrase, and an identity was given.
    WantsPassphrase,
    /// It was locked for recipients, and a passphrase was given.
    WantsIdentity,
    /// Opening it would take far too long.
    TooMuchWork,
    /// There is more in it than we take.
    TooLarge,
    /// It is no such text, or not as it was.
    Damaged,
}

/// Whether a text is locked.
pub(crate) fn is_locked(text: &str) -> bool {
    text.trim_start().starts_with(BEGINNING)
}

/// Locks a text with a passphrase. `None` when the machine cannot.
pub(crate) fn lock(plain: &str, passphrase: &Secret) -> Option<String> {
    let mut recipient = age::scrypt::Recipient::new(secret_string(passphrase));
    recipient.set_work_factor(WORK_LOG2);
    age::encrypt_and_armor(&recipient, plain.as_bytes()).ok()
}

/// Opens a text with the passphrase that it was locked with.
pub(crate) fn unlock(text: &str, passphrase: &Secret, bytes_max: usize) -> Result<Secret, NotOpened> {
    let mut identity = age::scrypt::Identity::new(secret_string(passphrase));
    identity.set_max_work_factor(PASSPHRASE_WORK_LOG2_MAX);
    open(text, &identity, bytes_max)
}

/// Opens a text with the identity (`AGE-SECRET-KEY-1…`) of a recipient it was locked for.
pub(crate) fn unlock_with_identity(
    text: &str,
    identity: &age::x25519::Identity,
    bytes_max: usize,
) -> Result<Secret, NotOpened> {
    match open(text, identity, bytes_max) {
        Err(NotOpened::WantsIdentity) => Err(NotOpened::WrongKey),
        Err(NotOpened::WrongKey) if is_for_passphrase(text) => Err(NotOpened::WantsPassphrase),
        opened => opened,
    }
}

fn open(text: &str, identity: &dyn age::Identity, bytes_max: usize) -> Result<Secret, NotOpened> {
    let decryptor =
        age::Decryptor::new_buffered(ArmoredReader::new(text.trim_start().as_bytes())).map_err(|error| why(&error))?;
    let is_for_passphrase = decryptor.is_scrypt();
    let reader = decryptor.decrypt(iter::once(identity)).map_err(|error| match why(&error) {
        NotOpened::WrongKey if !is_for_passphrase => NotOpened::WantsIdentity,
        other => other,
    })?;
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_to_end(&mut bytes).map_err(|_| NotOpened::Damaged)?;
    if bytes.len() > bytes_max {
        return Err(NotOpened::TooLarge);
    }
    String::from_utf8(bytes).map(Secret::new).map_err(|_| NotOpened::Damaged)
}

fn is_for_passphrase(text: &str) -> bool {
    let reader = ArmoredReader::new(text.trim_start().as_bytes());
    age::Decryptor::new_buffered(reader).is_ok_and(|decryptor| decryptor.is_scrypt())
}

fn why(error: &DecryptError) -> NotOpened {
    match error {
        DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            NotOpened::WrongKey
        }
        DecryptError::ExcessiveWork { .. } => NotOpened::TooMuchWork,
        _ => NotOpened::Damaged,
    }
}

fn secret_string(secret: &Secret) -> SecretString {
    SecretString::from(secret.expose().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{NotOpened, is_locked, lock, unlock, unlock_with_identity};
    use crate::secret::Secret;

    #[test]
    fn a_locked_text_opens_with_its_passphrase_and_nothing_else() {
        let (right, wrong) = (Secret::new("correct horse"), Secret::new("battery staple"));
        let text = lock("the text ✓", &right).unwrap();
        assert!(is_locked(&text) && !text.contains("the text"), "{text}");
        assert_eq!(unlock(&text, &right, 100).unwrap().expose(), "the text ✓");
        let identity = age::x25519::Identity::generate();
        let for_identity = age::encrypt_and_armor(&identity.to_public(), b"the text").unwrap();
        assert_eq!(unlock_with_identity(&for_identity, &identity, 100).unwrap().expose(), "the text");
        let cases = [
            ("another passphrase", unlock(&text, &wrong, 100), NotOpened::WrongKey),
            ("an identity", unlock_with_identity(&text, &identity, 100), NotOpened::WantsPassphrase),
            ("a passphrase for an identity", unlock(&for_identity, &right, 100), NotOpened::WantsIdentity),
            (
                "another identity",
                unlock_with_identity(&for_identity, &age::x25519::Identity::generate(), 100),
                NotOpened::WrongKey,
            ),
            ("too large", unlock(&text, &right, 3), NotOpened::TooLarge),
            ("half of it", unlock(text.split_at(text.len() / 2).0, &right, 100), NotOpened::Damaged),
            ("nothing", unlock("", &right, 100), NotOpened::Damaged),
            ("something else", unlock("{\"version\": 1}", &right, 100), NotOpened::Damaged),
        ];
        for (what, found, expected) in cases {
            assert_eq!(found, Err(expected), "{what}");
        }
    }
}
