//! The person's rules about folders, in `trustedFolders.json`: which folders may bring servers and settings of their own, and which may not.
//!
//! [`decide`] is the heart of it, on paths that can be compared as they are. The file is read with comments; it is written without them, in
//! the order it had.

use std::cmp::Reverse;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::TRUST_FILE_BYTES_MAX;
use crate::settings::diagnostic::visible;
use crate::settings::position::Places;
use crate::settings::syntax;
use crate::state_file::{self, Privacy};

/// The file in the person's folder.
const RULES_FILE: &str = "trustedFolders.json";

/// The variable that names another file.
const RULES_VARIABLE: &str = "TOOLGATE_TRUSTED_FOLDERS_PATH";

const WAY_OUT: &str = "correct the file, or remove it to decide about every folder again";

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustLevel {
    /// `TRUST_FOLDER`: this folder and all in it.
    Folder,
    /// `TRUST_PARENT`: the folder above it and all in that.
    Parent,
    /// `DO_NOT_TRUST`: neither this folder nor anything in it.
    Not,
}

impl TrustLevel {
    const ALL: [Self; 3] = [Self::Folder, Self::Parent, Self::Not];

    /// The level as the file spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Folder => "TRUST_FOLDER",
            Self::Parent => "TRUST_PARENT",
            Self::Not => "DO_NOT_TRUST",
        }
    }
}

impl fmt::Display for TrustLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The folder it was made for, as it is written.
    pub path: PathBuf,
    /// What it says.
    pub level: TrustLevel,
}

impl Rule {
    /// The folder it is about: its own, or the one above that; links resolved when it exists.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let own = lexical(&self.path);
        match self.level {
            TrustLevel::Folder | TrustLevel::Not => real(&own),
            // Above the root there is the root.
            TrustLevel::Parent => real(own.parent().unwrap_or(&own)),
        }
    }
}

/// All rules, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    file: PathBuf,
    rules: Vec<Rule>,
}

impl Rules {
    /// Reads them. No file is no rules.
    ///
    /// # Errors
    /// When the file cannot be read or is not an object of paths and levels: nobody can tell then what the person decided.
    pub fn read(env: &HostEnv) -> Result<Self> {
        let file = rules_file(env)?;
        let rules = match state_file::read(&file, TRUST_FILE_BYTES_MAX).map_err(|error| error.hinting(WAY_OUT))? {
            Some(text) => parse(&text, &file, env.dirs.home.as_deref())?,
            None => Vec::new(),
        };
        Ok(Self { file, rules })
    }

    /// Reads rules of another program in the same format.
    ///
    /// # Errors
    /// As [`Rules::read`].
    pub fn read_file(file: &Path, env: &HostEnv) -> Result<Self> {
        let rules = match state_file::read(file, TRUST_FILE_BYTES_MAX)? {
            Some(text) => parse(&text, file, env.dirs.home.as_deref())?,
            None => Vec::new(),
        };
        Ok(Self { file: file.to_owned(), rules })
    }

    /// The file they stand in, whether it exists or not.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The rules.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule that decides about a folder.
    #[must_use]
    pub fn deciding(&self, folder: &Path) -> Option<&Rule> {
        let about: Vec<(PathBuf, TrustLevel)> =
            self.rules.iter().map(|rule| (comparable(rule.folder()), rule.level)).collect();
        decide(&about, &comparable(real(folder))).and_then(|index| self.rules.get(index))
    }
}

/// Which of the rules decides about a folder: of those about it or a folder around it the innermost, and of two about the same folder the one
/// that distrusts.
fn decide(rules: &[(PathBuf, TrustLevel)], folder: &Path) -> Option<usize> {
    let around = rules.iter().enumerate().filter(|(_, (about, _))| folder.starts_with(about));
    let weight = |index: usize, about: &Path, level: TrustLevel| {
        (about.components().count(), level == TrustLevel::Not, Reverse(index))
    };
    around.max_by_key(|(index, (about, level))| weight(*index, about, *level)).map(|(index, _)| index)
}

/// Writes a rule down, in place of those that were made for the same folder or are about it. Those that said something else are given back.
///
/// # Errors
/// When the file cannot be changed, or what is in it cannot be understood; it stays as it was.
pub fn set_rule(env: &HostEnv, folder: &Path, level: TrustLevel) -> Result<Vec<Rule>> {
    let new = Rule { path: real(folder), level };
    let mut replaced = Vec::new();
    change(env, |rules| {
        let (path, about) = (comparable(new.path.clone()), comparable(new.folder()));
        let is_replaced = |rule: &Rule| comparable(real(&rule.path)) == path || comparable(rule.folder()) == about;
        let at = rules.iter().position(is_replaced).unwrap_or(rules.len());
        replaced = rules.extract_if(.., |rule| is_replaced(rule)).filter(|rule| *rule != new).collect();
        rules.insert(at, new.clone());
    })?;
    Ok(replaced)
}

/// Removes the rules that are written for exactly that path.
///
/// # Errors
/// As for [`set_rule`].
pub fn remove_rule(env: &HostEnv, path: &Path) -> Result<()> {
    change(env, |rules| rules.retain(|rule| rule.path != path))
}

fn change(env: &HostEnv, edit: impl FnOnce(&mut Vec<Rule>)) -> Result<()> {
    let file = rules_file(env)?;
    state_file::update(&file, Privacy::Owner, TRUST_FILE_BYTES_MAX, |old| {
        let mut rules = match old {
            Some(text) => parse(text, &file, env.dirs.home.as_deref())?,
            None => Vec::new(),
        };
        let before = rules.clone();
        edit(&mut rules);
        if rules == before { Ok(None) } else { render(&rules).map(Some) }
    })
}

fn render(rules: &[Rule]) -> Result<String> {
    let mut lines = Vec::with_capacity(rules.len());
    for rule in rules {
        let path = rule.path.to_str().ok_or_else(|| {
            let message = format!("the path {} is not UTF-8 text, so no rule can name it", rule.path.display());
            Error::new(ErrorKind::State, message).hinting("`--trust-folder` trusts it for one run")
        })?;
        lines.push(format!("  {}: \"{}\"", serde_json::Value::from(path), rule.level));
    }
    Ok(if lines.is_empty() { "{}\n".to_owned() } else { format!("{{\n{}\n}}\n", lines.join(",\n")) })
}

/// Where the rules are. A path that depends on the folder one is in would let the folder bring its own rules.
pub(crate) fn rules_file(env: &HostEnv) -> Result<PathBuf> {
    match env.vars.get(RULES_VARIABLE).filter(|path| !path.is_empty()) {
        None => Ok(env.dirs.user.join(RULES_FILE)),
        Some(path) if Path::new(path).is_absolute() => Ok(PathBuf::from(path)),
        Some(_) => {
            let message = format!("`{RULES_VARIABLE}` does not name an absolute path");
            Err(Error::new(ErrorKind::State, message).hinting("write the path from the root on"))
        }
    }
}

fn parse(text: &str, file: &Path, home: Option<&Path>) -> Result<Vec<Rule>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let places = Places::new(text);
    let wrong = |offset: usize, message: &str| {
        let at = places.at(offset);
        let message = format!("{}:{}:{}: {message}", file.display(), at.line, at.column);
        Error::new(ErrorKind::State, message).hinting(WAY_OUT)
    };
    let tree = syntax::parse(text).map_err(|fault| wrong(fault.offset, &fault.message))?;
    match tree {
        Some(Value::Object(root)) => root.properties.iter().map(|member| rule(member, home, &wrong)).collect(),
        Some(other) => Err(wrong(other.range().start, "expected `{`: the file is one object of folders and levels")),
        None => Err(wrong(0, "expected `{`: nothing is written in this file")),
    }
}

fn rule(member: &ObjectProp<'_>, home: Option<&Path>, wrong: &impl Fn(usize, &str) -> Error) -> Result<Rule> {
    let key = member.name.as_str();
    let shown = visible(key);
    let Some(path) = absolute(key, home) else {
        return Err(wrong(member.name.range().start, &format!("\"{shown}\" is not an absolute path")));
    };
    let level = match &member.value {
        Value::StringLit(word) => TrustLevel::ALL.into_iter().find(|level| level.as_str() == word.value),
        _ => None,
    };
    let Some(level) = level else {
        let message = format!("\"{shown}\": expected \"TRUST_FOLDER\", \"TRUST_PARENT\" or \"DO_NOT_TRUST\"");
        return Err(wrong(member.value.range().start, &message));
    };
    Ok(Rule { path, level })
}

/// A relative path would mean another folder every time.
fn absolute(key: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match (key.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ if key == "~" => home?.to_owned(),
        _ => PathBuf::from(key),
    };
    path.is_absolute().then_some(path)
}

/// The path without links where it exists, else without `.` and `..`.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| lexical(path))
}

fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // There is nothing above the root.
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Two names of one folder are equal then, on systems that ignore the case of letters too.
fn comparable(path: PathBuf) -> PathBuf {
    if cfg!(any(target_os = "macos", windows)) { PathBuf::from(path.to_string_lossy().to_lowercase()) } else { path }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
