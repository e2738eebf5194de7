//! The key of a model, with its references followed: the one secret of the settings that belongs to no server.

use std::path::Path;

use super::{Unresolved, as_text, bounded, command, file, keychain, without_nul};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{SECRET_BYTES_MAX, SECRET_REFERENCE_CHARS_MAX};
use crate::secret::Secret;
use crate::settings::expand::{ExpandError, Unset, expand};
use crate::settings::secret_reference::{SecretKind, SecretReference};
use crate::settings::{ModelKey, Part};

/// The key of a model as its provider gets it.
///
/// # Errors
/// When a reference in it cannot be followed, or nothing is left of it.
pub async fn key_of_model(env: &HostEnv, key: &ModelKey) -> Result<Secret> {
    let wrong = |what: &str, hint: &str| {
        Error::new(ErrorKind::Settings, format!("model.apiKey: {what}")).hinting(hint.to_owned())
    };
    let expanded = expand(&key.text, &env.vars, Unset::Empty, SECRET_BYTES_MAX).map_err(|error| match error {
        ExpandError::TooLong => wrong("it is too long for a key", "check what its variables stand for"),
        ExpandError::Reference(fault) => {
            let (what, hint) = fault.in_words();
            wrong(&what, hint)
        }
    })?;
    let folder = key.origin.path.as_deref().and_then(Path::parent).unwrap_or(&env.workspace);
    let mut whole = String::new();
    for part in expanded.parts.iter() {
        match part {
            Part::Plain(plain) => whole.push_str(plain),
            Part::Secret(reference) => {
                let followed = follow(env, folder, reference).await.map_err(|why| {
                    let shown = bounded(&reference.to_string(), SECRET_REFERENCE_CHARS_MAX);
                    wrong(&format!("`{shown}`: {}", why.message), &why.hint)
                })?;
                whole.push_str(followed.expose());
            }
        }
    }
    if whole.trim().is_empty() {
        return Err(wrong("nothing is left of it", "set the variable it names, or leave the key out"));
    }
    Ok(Secret::new(whole))
}

async fn follow(env: &HostEnv, folder: &Path, reference: &SecretReference) -> Result<Secret, Unresolved> {
    let target = &reference.target;
    match reference.kind {
        SecretKind::Env => {
            let value = env.vars.get(target).ok_or_else(|| Unresolved::new("the variable is not set", "set it"))?;
            without_nul(value.clone()).map(Secret::new)
        }
        SecretKind::File => as_text(file::read(env, folder, target).await?),
        SecretKind::Cmd => as_text(command::run(env, target).await?),
        SecretKind::Keychain => as_text(keychain::read(env, target).await?),
    }
}
