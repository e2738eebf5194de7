//! Which servers the person has switched off: `mcp-server-enablement.json` in their folder. A server that is not named there is on.
//!
//! Names are compared without letter case and blanks around them, and written that way. Whatever else stands in the file is kept. What is
//! switched off for one session only is nowhere but in that session.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::ENABLEMENT_FILE_BYTES_MAX;
use crate::servers::resolve::folded;
use crate::settings::edit::{self, EditError, Json};
use crate::state_file::{self, Privacy};

/// The file in the person's folder.
pub const ENABLEMENT_FILE: &str = "mcp-server-enablement.json";

/// The servers that are switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enablement {
    disabled: BTreeSet<String>,
}

impl Enablement {
    /// Where it is kept.
    #[must_use]
    pub fn file(env: &HostEnv) -> PathBuf {
        env.dirs.user.join(ENABLEMENT_FILE)
    }

    /// Reads the file. No file means that all servers are on.
    ///
    /// # Errors
    /// When the file cannot be read. Whoever wants to go on says so, and takes the default: all servers are on.
    pub fn read(env: &HostEnv) -> Result<Self> {
        let text = state_file::read(&Self::file(env), ENABLEMENT_FILE_BYTES_MAX)?;
        Self::of(&text.unwrap_or_default()).map_err(|error| malformed(env, &error))
    }

    /// Reads the text of such a file, also of one that belongs to another client.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn of(text: &str) -> Result<Self, EditError> {
        let Some(Json::Object(members)) = edit::get(text, &[])? else { return Ok(Self::default()) };
        let is_off = |value: &Json| value.member("enabled") == Some(&Json::Bool(false));
        let mut disabled = BTreeSet::new();
        for (name, value) in &members {
            // Of a key that is written twice the last one counts.
            if is_off(value) {
                disabled.insert(folded(name));
            } else {
                disabled.remove(&folded(name));
            }
        }
        Ok(Self { disabled })
    }

    /// The servers that are switched off, each name in lower case and without blanks around it.
    #[must_use]
    pub const fn disabled(&self) -> &BTreeSet<String> {
        &self.disabled
    }

    /// Whether a server is switched off.
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        self.disabled.contains(&folded(name))
    }

    /// Switches servers off. Those that were on before, as they were named.
    ///
    /// # Errors
    /// When the file cannot be read or written; it is as it was then.
    pub fn disable<'n>(env: &HostEnv, names: &[&'n str]) -> Result<Vec<&'n str>> {
        let off = Json::Object(vec![("enabled".to_owned(), Json::Bool(false))]);
        change(env, names, |text, before, name| {
            if before.is_disabled(name) { Ok(None) } else { edit::set(text, &[&folded(name)], &off).map(Some) }
        })
    }

    /// Switches servers on. Those that were off before, as they were named. When there is nothing to do the file is not touched.
    ///
    /// # Errors
    /// When the file cannot be read or written; it is as it was then.
    pub fn enable<'n>(env: &HostEnv, names: &[&'n str]) -> Result<Vec<&'n str>> {
        if !Self::file(env).exists() {
            return Ok(Vec::new());
        }
        let mut were_off = Vec::new();
        let removed = change(env, names, |text, before, name| {
            if before.is_disabled(name) {
                were_off.push(folded(name));
            }
            without(text, &folded(name))
        })?;
        Ok(removed.into_iter().filter(|name| were_off.contains(&folded(name))).collect())
    }
}

/// Makes one change for each name. The names for which there was something to change.
fn change<'n>(
    env: &HostEnv,
    names: &[&'n str],
    mut one: impl FnMut(&str, &Enablement, &str) -> Result<Option<String>, EditError>,
) -> Result<Vec<&'n str>> {
    let mut changed: Vec<&str> = Vec::new();
    state_file::update(&Enablement::file(env), Privacy::Owner, ENABLEMENT_FILE_BYTES_MAX, |old| {
        let mut text = old.unwrap_or_default().to_owned();
        for name in names {
            let before = Enablement::of(&text).map_err(|error| malformed(env, &error))?;
            if let Some(new) = one(&text, &before, name).map_err(|error| malformed(env, &error))? {
                text = new;
                changed.push(name);
            }
        }
        Ok(if changed.is_empty() { None } else { Some(text) })
    })?;
    Ok(changed)
}

/// The text without the keys that mean a name, however they are spelled.
fn without(text: &str, name: &str) -> Result<Option<String>, EditError> {
    let Some(Json::Object(members)) = edit::get(text, &[])? else { return Ok(None) };
    let spellings: BTreeSet<&str> =
        members.iter().map(|(key, _)| key.as_str()).filter(|key| folded(key) == name).collect();
    let mut left: Option<String> = None;
    for spelling in spellings {
        if let Some(new) = edit::remove(left.as_deref().unwrap_or(text), &[spelling])? {
            left = Some(new);
        }
    }
    Ok(left)
}

fn malformed(env: &HostEnv, error: &EditError) -> Error {
    let message = format!("{}:{error}", Enablement::file(env).display());
    Error::new(ErrorKind::State, message).hinting("correct it, or remove it to have all servers enabled")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::Enablement;
    use crate::env::{HostDirs, HostEnv, SystemClock};
    use crate::error::ErrorKind;

    fn env(folder: &Path) -> HostEnv {
        let dirs = HostDirs { user: folder.join("user"), system: folder.join("system"), home: None };
        HostEnv { vars: BTreeMap::new(), dirs, workspace: folder.into(), clock: Arc::new(SystemClock) }
    }

    #[test]
    fn servers_are_switched_off_and_on() {
        let folder = tempfile::tempdir().unwrap();
        let env = env(folder.path());
        let text = || fs::read_to_string(Enablement::file(&env)).unwrap();
        assert_eq!(Enablement::enable(&env, &["a"]).unwrap(), Vec::<&str>::new());
        assert!(!env.dirs.user.exists(), "nothing is made for nothing");
        assert_eq!(Enablement::disable(&env, &[" GitHub ", "b", "B"]).unwrap(), [" GitHub ", "b"]);
        assert_eq!(
            text(),
            "{\n  \"github\": {\n    \"enabled\": false\n  },\n  \"b\": {\n    \"enabled\": false\n  }\n}\n"
        );
        let read = Enablement::read(&env).unwrap();
        assert!(read.is_disabled("GITHUB") && read.is_disabled("b ") && !read.is_disabled("c"));
        assert_eq!(Enablement::disable(&env, &["github"]).unwrap(), Vec::<&str>::new());
        assert_eq!(Enablement::enable(&env, &["c", "Github"]).unwrap(), ["Github"]);
        assert_eq!(text(), "{\n  \"b\": {\n    \"enabled\": false\n  }\n}\n");
        assert_eq!(Enablement::enable(&env, &["b"]).unwrap(), ["b"]);
        assert_eq!(text(), "{}\n");
    }

    #[test]
    fn what_others_wrote_is_understood_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let env = env(folder.path());
        fs::create_dir(&env.dirs.user).unwrap();
        let cases = [
            (r#"{"a": {"enabled": false, "since": 1}, "x": 1}"#, true, r#"{"x": 1}"#),
            (r#"{"A ": {"enabled": false}}"#, true, "{}"),
            (r#"{"a": {"enabled": true}, "x": [1]}"#, false, r#"{"x": [1]}"#),
            (r#"{"a": {"enabled": false}, "a": {}}"#, false, "{}"),
            (r#"{"a": false}"#, false, "{}"),
            ("// none", false, "// none"),
            ("", false, ""),
        ];
        for (text, is_disabled, enabled) in cases {
            fs::write(Enablement::file(&env), text).unwrap();
            assert_eq!(Enablement::read(&env).unwrap().is_disabled("a"), is_disabled, "{text}");
            let expected: &[&str] = if is_disabled { &["a"] } else { &[] };
            assert_eq!(Enablement::enable(&env, &["a"]).unwrap(), expected, "{text}");
            assert_eq!(fs::read_to_string(Enablement::file(&env)).unwrap(), enabled);
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let env = env(folder.path());
        fs::create_dir(&env.dirs.user).unwrap();
        for (text, place) in [("{\"a\": ", "1:7"), ("[]", "1:1"), ("{\n\"a\": \0}", "2:6")] {
            fs::write(Enablement::file(&env), text).unwrap();
            let errors = [
                Enablement::read(&env).unwrap_err(),
                Enablement::disable(&env, &["a"]).unwrap_err(),
                Enablement::enable(&env, &["a"]).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::State);
                assert!(error.to_string().contains(&format!("mcp-server-enablement.json:{place}: ")), "{error}");
            }
            assert_eq!(fs::read_to_string(Enablement::file(&env)).unwrap(), text);
        }
    }
}
