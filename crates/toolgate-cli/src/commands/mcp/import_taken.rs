//! Restrictions imported with the servers of Gemini CLI. They are lists and switches of its settings, policies, and
//! decisions about folders.
//! Anything that cannot be taken over is reported, and then no server is trusted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolgate::HostEnv;
use toolgate::formats::{Format, Note, NoteKind, Restrictions};
use toolgate::policy::file::TAKEN_OVER_PREFIX;
use toolgate::settings::brought::POLICIES_FOLDER;
use toolgate::settings::edit::{EditError, Json, get, set};
use toolgate::settings::{LoadOptions, Settings, SettingsSource, load};
use toolgate::trust::{Rules, TrustLevel, survey};

use super::import_policy::{Beside, permits, rules_of, trouble_of};
use super::import_there::OfExtensions;
use crate::commands::mcp::import_files::{Source, text_of};
use crate::commands::mcp::scope::Target;

/// Name of the file with decisions about folders, beside the settings.
const FOLDERS_FILE: &str = "trustedFolders.json";

/// Everything that is imported besides the servers, and everything that is left out.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Settings keys.
    pub(crate) keys: Vec<KeyTaken>,
    /// Policy files.
    pub(crate) policies: Vec<PolicyTaken>,
    /// Decisions about folders.
    pub(crate) folders: Vec<FolderTaken>,
    /// Restrictions that cannot be taken over, one message each. Servers are not trusted while there is one.
    pub(crate) lost: Vec<String>,
    /// Items that are left out but restrict nothing, one message each.
    pub(crate) noted: Vec<String>,
}

/// A key of the settings.
#[derive(Debug)]
pub(crate) struct KeyTaken {
    /// The key, such as `tools.exclude`.
    pub(crate) key: &'static str,
    pub(crate) change: KeyChange,
}

/// The change of a key.
#[derive(Debug)]
pub(crate) enum KeyChange {
    /// Entries that are added to a list.
    Added(Vec<String>),
    /// The value that it gets.
    Set(Json),
}

impl KeyTaken {
    /// The entries that are added.
    pub(crate) fn entries(&self) -> &[String] {
        match &self.change {
            KeyChange::Added(entries) => entries,
            KeyChange::Set(_) => &[],
        }
    }

    /// The value that it gets, unless it is a list.
    pub(crate) const fn value(&self) -> Option<&Json> {
        match &self.change {
            KeyChange::Set(value) => Some(value),
            KeyChange::Added(_) => None,
        }
    }
}

/// A policy file.
#[derive(Debug)]
pub(crate) struct PolicyTaken {
    /// Path of the policy file of Gemini CLI.
    pub(crate) from: PathBuf,
    /// Path of the policy file to write.
    pub(crate) to: PathBuf,
    pub(crate) text: String,
    /// Whether that file exists with the same text.
    pub(crate) is_there: bool,
}

/// A decision about a folder.
#[derive(Debug)]
pub(crate) struct FolderTaken {
    pub(crate) path: PathBuf,
    pub(crate) level: TrustLevel,
}

impl Taken {
    /// Collects the restrictions from these files. `text` is the content of the settings file to be changed.
    pub(crate) fn of(sources: &[Source], env: &HostEnv, target: &Target, text: &str, only: &[String]) -> Self {
        let mut taken = Self::default();
        for source in sources.iter().filter(|source| source.imported.format == Format::GeminiCli) {
            let is_of_person = target.source == SettingsSource::User && !source.is_of_folder;
            let mut policies = Vec::new();
            if is_of_person {
                let theirs = source.imported.restrictions.names_policies;
                let names =
                    [(theirs, "the imported settings"), (listed(text, "policyPaths").is_some(), "your settings")];
                let whose = names.into_iter().filter(|(is_named, _)| *is_named).map(|(_, whose)| whose);
                taken.lost.extend(whose.map(|whose| format!("policies: `policyPaths` of {whose} names other files")));
                policies = taken.policies_beside(&source.path, env);
                taken.folders_beside(&source.path, env);
            }
            taken.lists(&source.imported.restrictions, text, only);
            if is_of_person {
                taken.extensions_beside(&source.path, text);
            }
            let beside = Beside { policies: !policies.is_empty(), losses: !taken.lost.is_empty() };
            let rules = rules_of(&source.imported.restrictions, beside);
            taken.policies.extend(policies);
            match rules {
                Some(rules) if is_of_person => taken.policy(&source.path, "settings.toml", rules, env),
                Some(_) => taken.lost.push(
                    "denials that follow from `tools.core` and `tools.allowed`: only your own settings can contain them".to_owned(),
                ),
                None => {}
            }
        }
        taken
    }

    /// Whether there is nothing to report.
    pub(crate) const fn is_empty(&self) -> bool {
        let is_nothing_taken = self.keys.is_empty() && self.policies.is_empty() && self.folders.is_empty();
        is_nothing_taken && self.lost.is_empty() && self.noted.is_empty()
    }

    /// Whether there is something to write.
    pub(crate) fn writes(&self) -> bool {
        let new = self.policies.iter().any(|policy| !policy.is_there);
        new || !self.keys.is_empty() || !self.folders.is_empty()
    }

    fn lists(&mut self, restrictions: &Restrictions, text: &str, only: &[String]) {
        let is_left_out = |name: &&String| !only.contains(name);
        let excluded = restrictions.excluded_servers.iter().filter(is_left_out).cloned().collect();
        self.added("tools.exclude", restrictions.excluded_tools.clone(), text);
        self.added("tools.confirmationRequired", restrictions.confirmation_required.clone(), text);
        self.added("mcp.excluded", excluded, text);
        self.narrowed("tools.core", restrictions.core_tools.clone(), text);
        let own = servers_of(text);
        let allowed = restrictions.allowed_servers.clone().map(|mut names| {
            let more = own.into_iter().chain(only.iter().cloned()).filter(|name| !names.contains(name));
            let more: BTreeSet<String> = more.collect();
            names.extend(more);
            names
        });
        self.narrowed("mcp.allowed", allowed, text);
        for key in &restrictions.switches {
            self.set(key, Json::Bool(true), text);
        }
        if restrictions.is_without_servers {
            self.set("admin.mcp.enabled", Json::Bool(false), text);
        }
        if restrictions.begins_in_plan {
            self.set("general.defaultApprovalMode", Json::Text("plan".to_owned()), text);
        }
        let unreadable = restrictions.unreadable.iter();
        self.lost.extend(unreadable.map(|key| format!("`{key}`: it cannot be read")));
        let outdated = restrictions.outdated.iter();
        self.lost.extend(outdated.map(|(key, now)| format!("`{key}` of an old version, now called `{now}`")));
        if !restrictions.allowed_tools.is_empty() {
            self.noted.push("`tools.allowed`: decide again which tools run without a question".to_owned());
        }
    }

    /// A key that restricts with this value.
    fn set(&mut self, key: &'static str, wanted: Json, text: &str) {
        let is_known = self.keys.iter().any(|one| one.key == key);
        if !is_known && value(text, key).as_ref() != Some(&wanted) {
            self.keys.push(KeyTaken { key, change: KeyChange::Set(wanted) });
        }
    }

    /// Takes over a list whose entries restrict.
    fn added(&mut self, key: &'static str, wanted: Vec<String>, text: &str) {
        let there = listed(text, key).unwrap_or_default();
        let known: BTreeSet<&String> =
            self.keys.iter().filter(|one| one.key == key).flat_map(KeyTaken::entries).collect();
        let new: Vec<String> =
            wanted.into_iter().filter(|entry| !there.contains(entry) && !known.contains(entry)).collect();
        if new.is_empty() {
            return;
        }
        let there = self.keys.iter_mut().find(|one| one.key == key).map(|one| &mut one.change);
        match there {
            Some(KeyChange::Added(entries)) => entries.extend(new),
            _ => self.keys.push(KeyTaken { key, change: KeyChange::Added(new) }),
        }
    }

    /// Takes over a list that names everything allowed. It cannot be combined with an existing one.
    fn narrowed(&mut self, key: &'static str, wanted: Option<Vec<String>>, text: &str) {
        let Some(wanted) = wanted else { return };
        match listed(text, key) {
            None if self.keys.iter().any(|one| one.key == key) => {
                self.lost.push(format!("`{key}`: two imported files set it"))
            }
            None => self.keys.push(KeyTaken { key, change: KeyChange::Added(wanted) }),
            Some(there) if there.iter().all(|entry| wanted.contains(entry)) => {}
            Some(_) => self.lost.push(format!("`{key}`: your settings have a different list")),
        }
    }

    /// The restrictions of extensions. Their servers are not imported.
    fn extensions_beside(&mut self, settings: &Path, text: &str) {
        let extensions = OfExtensions::beside(settings);
        self.added("tools.exclude", extensions.excluded_tools, text);
        self.lost.extend(extensions.lost);
        let copied = |folder| format!("{folder} has servers; copy it into `~/.toolgate/extensions` to use them");
        self.noted.extend(extensions.with_servers.into_iter().map(copied));
    }

    /// Takes over the policies in the folder beside the settings.
    fn policies_beside(&mut self, settings: &Path, env: &HostEnv) -> Vec<PolicyTaken> {
        let folder = settings.with_file_name(POLICIES_FOLDER);
        let mut found = Vec::new();
        let before = self.lost.len();
        for path in toolgate::settings::brought::policy_files(&folder) {
            let name = path.file_name().and_then(|name| name.to_str());
            match (text_of(&path), name) {
                (Ok(Some(text)), Some(name)) => match trouble_of(&text, &path) {
                    None => {
                        let policy = self.policy_at(&path, name, text, env);
                        found.extend(policy);
                    }
                    Some(trouble) => self.lost.push(format!("{}: {trouble}", path.display())),
                },
                (Ok(None), _) => {}
                (Ok(Some(_)), None) | (Err(_), _) => self.lost.push(format!("{}: it cannot be read", path.display())),
            }
        }
        if self.lost.len() > before {
            for policy in found.extract_if(.., |policy: &mut PolicyTaken| permits(&policy.text, &policy.from)) {
                let from = policy.from.display();
                self.lost.push(format!("{from}: it permits calls that a policy which is not imported may deny"));
            }
        }
        found
    }

    fn policy(&mut self, from: &Path, name: &str, text: String, env: &HostEnv) {
        let policy = self.policy_at(from, name, text, env);
        self.policies.extend(policy);
    }

    fn policy_at(&mut self, from: &Path, name: &str, text: String, env: &HostEnv) -> Option<PolicyTaken> {
        let to = env.dirs.user.join(POLICIES_FOLDER).join(format!("{TAKEN_OVER_PREFIX}{name}"));
        let there = text_of(&to).ok().flatten();
        if there.as_ref().is_some_and(|there| *there != text) || (there.is_none() && to.exists()) {
            let (to, from) = (to.display(), from.display());
            self.lost.push(format!("{from}: {to} already exists and has other content"));
            return None;
        }
        Some(PolicyTaken { from: from.to_owned(), to, text, is_there: there.is_some() })
    }

    /// Takes over decisions about folders. Distrust is always taken over. Trust is taken over only for a folder that
    /// brings nothing for toolgate; the person reviews the others with `toolgate trust`.
    fn folders_beside(&mut self, settings: &Path, env: &HostEnv) {
        let file = settings.with_file_name(FOLDERS_FILE);
        let (theirs, own) = match (Rules::read_file(&file, env), Rules::read(env)) {
            (Ok(theirs), Ok(own)) => (theirs, own),
            (Err(error), _) | (_, Err(error)) => return self.lost.push(error.to_string()),
        };
        for rule in theirs.all() {
            let is_decided = own.all().iter().any(|own| own.path == rule.path || own.folder() == rule.folder());
            if is_decided {
                continue;
            }
            if rule.level == TrustLevel::Not
                || (rule.level == TrustLevel::Folder && bringing_nothing(&rule.path, env).is_some())
            {
                self.folders.push(FolderTaken { path: rule.path.clone(), level: rule.level });
            } else {
                let path = rule.path.display();
                self.noted.push(format!("{} for {path}: review the folder with `toolgate trust {path}`", rule.level));
            }
        }
    }

    /// Adds the keys to the text of the settings.
    pub(crate) fn write_keys(&self, text: String) -> Result<String, EditError> {
        self.keys.iter().try_fold(text, |text, taken| {
            let path: Vec<&str> = taken.key.split('.').collect();
            let value = match &taken.change {
                KeyChange::Set(value) => value.clone(),
                KeyChange::Added(new) => {
                    let there = listed(&text, taken.key).unwrap_or_default();
                    let new = new.iter().filter(|entry| !there.contains(entry)).cloned();
                    Json::texts(there.iter().cloned().chain(new))
                }
            };
            set(&text, &path, &value)
        })
    }
}

impl Source {
    /// Removes `trust` from all servers, because the restrictions that it relied on (`lost`) are not imported.
    pub(crate) fn without_trust_for(&mut self, lost: &[String]) {
        for server in &mut self.imported.servers {
            if server.server.trust.take().is_some_and(|trust| trust.value) {
                let message =
                    format!("not trusted here, because these restrictions are not imported: {}", lost.join("; "));
                server.notes.push(Note { kind: NoteKind::Lost, key: "trust".to_owned(), at: None, message });
            }
        }
    }
}

/// The settings of a folder that brings nothing for toolgate. `None` when it brings something, or is no folder.
pub(crate) fn bringing_nothing(folder: &Path, env: &HostEnv) -> Option<Settings> {
    if !folder.is_dir() {
        return None;
    }
    let env = HostEnv { workspace: folder.into(), ..env.clone() };
    let settings = load(&env, &LoadOptions::default());
    let judged = toolgate::trust::judge(&env, &settings, None).ok()?;
    survey(&settings, &judged).is_empty().then_some(settings)
}

fn value(text: &str, key: &str) -> Option<Json> {
    get(text, &key.split('.').collect::<Vec<_>>()).ok().flatten()
}

/// The entries of a list. A single text counts as a list of one.
fn listed(text: &str, key: &str) -> Option<Vec<String>> {
    match value(text, key)? {
        Json::Text(one) => Some(vec![one]),
        Json::List(all) => {
            Some(all.into_iter().filter_map(|one| if let Json::Text(one) = one { Some(one) } else { None }).collect())
        }
        _ => None,
    }
}

fn servers_of(text: &str) -> Vec<String> {
    match value(text, "mcpServers") {
        Some(Json::Object(members)) => members.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}
