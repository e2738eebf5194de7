//! Which extensions are enabled where: `extension-enablement.json` beside them, a list of rules for each.
//!
//! A rule is a folder with a slash at both ends, `*` behind it for everything below, `!` before it for "not there". The last rule that fits
//! decides; without one an extension is enabled.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::EXTENSION_ENABLEMENT_BYTES_MAX;
use crate::settings::extensions::EXTENSIONS_FOLDER;
use crate::state_file::{self, Privacy};

const FILE: &str = "extension-enablement.json";

/// Everywhere.
const EVERYWHERE: &str = "/*";

/// The rules, by the name of the extension.
#[derive(Debug, Default)]
pub(crate) struct Switches(Map<String, Value>);

impl Switches {
    pub(crate) fn read(env: &HostEnv) -> Result<Self> {
        let path = file(env);
        match state_file::read(&path, EXTENSION_ENABLEMENT_BYTES_MAX)? {
            None => Ok(Self::default()),
            Some(text) => parse(&text, &path).map(Self),
        }
    }

    pub(crate) fn is_enabled(&self, extension: &str, workspace: &Path) -> bool {
        let rules = self.0.get(extension).and_then(|one| one.get("overrides")).and_then(Value::as_array);
        let rules = rules.into_iter().flatten().filter_map(Value::as_str);
        let deciding = rules.filter_map(|rule| decision(rule, workspace)).next_back();
        deciding.unwrap_or(true)
    }
}

/// What a rule says about a folder, if it fits.
fn decision(rule: &str, folder: &Path) -> Option<bool> {
    let (folder_of_rule, is_enabling) = match rule.strip_prefix('!') {
        Some(rule) => (rule, false),
        None => (rule, true),
    };
    let here = format!("{}/", folder.display().to_string().trim_end_matches('/'));
    let fits = match folder_of_rule.strip_suffix('*') {
        Some(start) => here.starts_with(start),
        None => here == folder_of_rule,
    };
    fits.then_some(is_enabling)
}

fn parse(text: &str, path: &Path) -> Result<Map<String, Value>> {
    serde_json::from_str(text).map_err(|error| {
        let what = format!("{}: {error}", path.display());
        Error::new(ErrorKind::State, what).hinting("mend it, or remove it to enable all extensions")
    })
}

/// The file with the rules.
pub(crate) fn file(env: &HostEnv) -> PathBuf {
    env.dirs.user.join(EXTENSIONS_FOLDER).join(FILE)
}

/// Enables an extension: everywhere, or in one folder and all below it.
///
/// # Errors
/// When the file cannot be read or written.
pub fn enable_extension(env: &HostEnv, name: &str, folder: Option<&Path>) -> Result<()> {
    set(env, name, folder, "")
}

/// Disables an extension: everywhere, or in one folder and all below it.
///
/// # Errors
/// When the file cannot be read or written.
pub fn disable_extension(env: &HostEnv, name: &str, folder: Option<&Path>) -> Result<()> {
    set(env, name, folder, "!")
}

fn set(env: &HostEnv, name: &str, folder: Option<&Path>, sign: &str) -> Result<()> {
    let path = file(env);
    let scope = folder
        .map_or(EVERYWHERE.to_owned(), |folder| format!("{}/*", folder.display().to_string().trim_end_matches('/')));
    state_file::update(&path, Privacy::Owner, EXTENSION_ENABLEMENT_BYTES_MAX, |text| {
        let mut all = parse(text.unwrap_or("{}"), &path)?;
        let written = all.get(name).and_then(|one| one.get("overrides")).and_then(Value::as_array);
        // A decision for everywhere is the last word: what was said about single folders is over.
        let kept = written.into_iter().flatten().filter_map(Value::as_str);
        let kept = kept.filter(|rule| folder.is_some() && rule.trim_start_matches('!') != scope);
        let mut rules: Vec<String> = kept.map(ToOwned::to_owned).collect();
        rules.push(format!("{sign}{scope}"));
        all.insert(name.to_owned(), json!({"overrides": rules}));
        let text = serde_json::to_string_pretty(&Value::Object(all));
        text.map(|text| Some(text + "\n")).map_err(|error| Error::new(ErrorKind::State, error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Switches, parse};

    #[test]
    fn the_last_rule_that_fits_decides() {
        let cases: &[(&str, bool)] = &[
            ("", true),
            (r#""/*""#, true),
            (r#""!/*""#, false),
            (r#""!/*", "/home/ada/*""#, true),
            (r#""/home/ada/*", "!/*""#, false),
            (r#""!/home/ada/work/""#, false),
            (r#""!/home/ada/""#, true),
            (r#""!/home/ada/*""#, false),
            (r#""!/home/ada/wor/*""#, true),
            (r#""!/other/*""#, true),
        ];
        for (rules, expected) in cases {
            let text = format!(r#"{{"tool-box": {{"overrides": [{rules}]}}}}"#);
            let switches = Switches(parse(&text, Path::new("x")).unwrap());
            assert_eq!(switches.is_enabled("tool-box", Path::new("/home/ada/work")), *expected, "{rules}");
        }
    }
}
