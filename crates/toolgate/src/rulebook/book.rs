//! `Rulebook`: every rule of a run, and where each comes from. A policy file that cannot be used stops whatever needs rules: a rule that is
//! left out may be the one that was to forbid something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::from_settings;
use super::mode::lasting_of_run;
use super::ownership::why_not_administrators;
use super::reality;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind};
use crate::grants::Lasting;
use crate::limits::{POLICY_FILE_BYTES_MAX, POLICY_FILES_MAX};
use crate::policy::file::{self, Checker, FileSource, Finding, KnownTool, RegexBudget, Severity};
use crate::policy::{
    Decision, Policy, Rule, RuleKind, RuleOrigin, SAVED_APPROVAL_PRIORITY, ServerPattern, Tier, default_rules,
};
use crate::servers::ServerSet;
use crate::settings::brought::{POLICIES_FOLDER, policy_files};
use crate::settings::{Diagnostic, Settings, SettingsSource};
use crate::state_file;
use crate::trust::{Folder, FolderStanding, POLICIES_ENTRY};

/// The highest priority that a rule can have.
const PRIORITY_MAX: u16 = 999;

const OWN_PATHS: &str = "policyPaths";
const ADMIN_PATHS: &str = "adminPolicyPaths";

/// What a run was asked for.
#[derive(Clone, Debug, Default)]
pub struct RulebookOptions {
    /// Policy files and folders in place of the person's own (`--policy`).
    pub policies: Option<Vec<PathBuf>>,
    /// Policy files and folders of the administrator's tier that only restrict (`--admin-policy`).
    pub admin_policies: Option<Vec<PathBuf>>,
    /// Entries in place of `tools.allowed` (`--allowed-tools`).
    pub allowed_tools: Option<Vec<String>>,
}

/// Every rule of a run.
#[derive(Clone, Debug, Default)]
pub struct Rulebook {
    /// The rules.
    pub policy: Policy,
    /// What is looked at after a decision, with the paths of a call.
    pub checkers: Vec<Checker>,
    /// Whether the workspace folder is trusted.
    pub folder: FolderStanding,
    /// The files that were read, in the order of their tiers, the weakest first.
    pub files: Vec<PolicyFile>,
    /// What is odd in the settings the rules follow from.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be used without being a reason to stop.
    pub troubles: Vec<Error>,
}

/// One policy file.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// How much it weighs.
    pub tier: Tier,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it was named for this run.
    pub is_named: bool,
    /// How many rules it has.
    pub rules: usize,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Why it cannot be read at all.
    pub unreadable: Option<Error>,
    /// The text that was read.
    pub text: Option<Arc<str>>,
}

impl Rulebook {
    /// Gathers the rules.
    #[must_use]
    pub fn read(
        env: &HostEnv,
        settings: &Settings,
        servers: &ServerSet,
        folder: &Folder,
        options: &RulebookOptions,
    ) -> Self {
        let mut gathering = Gathering {
            env,
            settings,
            book: Self { folder: folder.standing(), ..Self::default() },
            rules: default_rules(),
            is_named: false,
            forgets_approvals: lasting_of_run(settings) == Lasting::Never,
            budgets: BTreeMap::new(),
        };
        gathering.extensions();
        if folder.is_trusted() {
            gathering.workspace(folder);
        }
        gathering.person(options);
        gathering.administrator(options);
        let derived = from_settings::derive(settings, servers, folder.is_trusted(), options.allowed_tools.as_deref());
        gathering.rules.extend(derived.rules);
        let Gathering { mut book, mut rules, .. } = gathering;
        book.diagnostics = derived.diagnostics;
        for finding in file::lint(&rules) {
            book.find(finding);
        }
        if let Some(error) = book.error() {
            rules.push(everything_denied(&error));
        }
        book.policy = Policy::new(rules);
        book
    }

    /// Compares rules and lists of servers with the known tools. Findings about policies are kept with their files; those about
    /// settings are returned.
    pub fn check_arguments(
        &mut self,
        settings: &Settings,
        servers: &ServerSet,
        known: &[KnownTool<'_>],
    ) -> Vec<Finding> {
        let mut rules: Vec<_> = self.policy.rules().cloned().collect();
        rules.extend(servers.active.iter().flat_map(|server| reality::rules_of_lists(settings, server)).map(Arc::new));
        let mut of_settings = Vec::new();
        for finding in file::lint_against_tools(rules.iter().map(|rule| &**rule), known) {
            let is_in = |file: &PolicyFile| finding.file.as_ref().is_some_and(|path| **path == file.path);
            if self.files.iter().any(is_in) {
                self.find(finding);
            } else if !of_settings.contains(&finding) {
                of_settings.push(finding);
            }
        }
        of_settings
    }

    fn find(&mut self, finding: Finding) {
        let is_in = |file: &&mut PolicyFile| finding.file.as_ref().is_some_and(|path| **path == file.path);
        if let Some(file) = self.files.iter_mut().find(is_in).filter(|file| !file.findings.contains(&finding)) {
            let at = file.findings.partition_point(|one| (one.line, one.column) <= (finding.line, finding.column));
            file.findings.insert(at, finding);
        }
    }

    /// Why the rules cannot be used: the first file that has an error.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.files.iter().find_map(PolicyFile::error)
    }
}

impl PolicyFile {
    /// The text that its rules were read from. `None` if it could not be read.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Why it cannot be used.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        let finding = self.findings.iter().find(|finding| finding.severity == Severity::Error);
        let of_finding = finding.map(|finding| {
            let place = format!("{}:{}:{}", self.path.display(), finding.line, finding.column);
            let error = Error::new(ErrorKind::Policy, format!("{place}: {}", finding.message));
            match &finding.hint {
                Some(hint) => error.hinting(hint),
                None => error,
            }
        });
        self.unreadable.clone().or(of_finding)
    }
}

struct Gathering<'a> {
    env: &'a HostEnv,
    settings: &'a Settings,
    book: Rulebook,
    rules: Vec<Rule>,
    /// Whether what is read was named for this run.
    is_named: bool,
    /// Whether answers saved by Gemini CLI are ignored.
    forgets_approvals: bool,
    /// Remaining budget for regular expressions in each tier.
    budgets: BTreeMap<Tier, RegexBudget>,
}

impl Gathering<'_> {
    fn extensions(&mut self) {
        for state in self.settings.extensions.iter().filter(|state| state.is_enabled) {
            self.folder(Tier::Extension, &state.extension.policies());
        }
    }

    /// Until somebody has looked at policies that changed, they count, and whatever they no longer forbid is asked about.
    fn workspace(&mut self, folder: &Folder) {
        for file in &self.settings.brought.policies {
            self.file(Tier::Workspace, file);
        }
        if folder.unconfirmed().contains(POLICIES_ENTRY) {
            self.rules.push(unconfirmed_policies());
            let what = "the policies of this folder changed since it was trusted, so whatever your own rules do not decide is asked about";
            let trouble = Error::new(ErrorKind::Untrusted, what).hinting("`toolgate trust` shows them and asks you");
            self.book.troubles.push(trouble);
        }
    }

    fn person(&mut self, options: &RulebookOptions) {
        let written: Vec<PathBuf> = named_in(self.env, self.settings, OWN_PATHS);
        match (&options.policies, written.is_empty()) {
            (Some(paths), _) => {
                self.is_named = true;
                paths.iter().for_each(|path| self.named(Tier::User, path));
                self.is_named = false;
            }
            (None, false) => written.iter().for_each(|path| self.named(Tier::User, path)),
            (None, true) => self.folder(Tier::User, &self.env.dirs.user.join(POLICIES_FOLDER)),
        }
    }

    fn administrator(&mut self, options: &RulebookOptions) {
        let folder = self.env.dirs.system.join(POLICIES_FOLDER);
        // Files that are not in force take the place of nothing: what was named beside them only restricts.
        let has_own = match why_not_administrators(&folder) {
            Some(why) => {
                let what = format!("{}: the policies there are not used: {why}", folder.display());
                self.book.troubles.push(Error::new(ErrorKind::Policy, what));
                false
            }
            None => {
                self.folder(Tier::Admin, &folder);
                !policy_files(&folder).is_empty()
            }
        };
        let more = named_in(self.env, self.settings, ADMIN_PATHS);
        if more.is_empty() || !has_own {
            more.iter().for_each(|path| self.named(Tier::Admin, path));
        } else {
            let what = format!("`adminPolicyPaths` is not used, because there are policies in {}", folder.display());
            self.book.troubles.push(Error::new(ErrorKind::Policy, what));
        }
        let Some(of_run) = &options.admin_policies else { return };
        if !has_own && more.is_empty() {
            self.is_named = true;
            of_run.iter().for_each(|path| self.named(Tier::Run, path));
            self.is_named = false;
        } else {
            let what = "`--admin-policy` is ignored, because the system has its own policies";
            self.book.troubles.push(Error::new(ErrorKind::Policy, what));
        }
    }

    /// A file or a folder that somebody names. One that is not there is not what they meant.
    fn named(&mut self, tier: Tier, path: &Path) {
        let path = self.env.workspace.join(path);
        if path.is_dir() {
            self.folder(tier, &path);
        } else {
            self.file(tier, &path);
        }
    }

    fn folder(&mut self, tier: Tier, folder: &Path) {
        let files = policy_files(folder);
        if files.len() >= POLICY_FILES_MAX {
            let what = format!("{}: more policy files than the {POLICY_FILES_MAX} that are read", folder.display());
            self.cannot(tier, folder, Error::new(ErrorKind::Policy, what));
        }
        files.iter().for_each(|file| self.file(tier, file));
    }

    fn file(&mut self, tier: Tier, path: &Path) {
        let text = match state_file::read(path, POLICY_FILE_BYTES_MAX) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let what = format!("{}: no such policy file", path.display());
                return self.cannot(tier, path, Error::new(ErrorKind::Policy, what));
            }
            Err(error) => return self.cannot(tier, path, Error::new(ErrorKind::Policy, error.to_string())),
        };
        let parsed = file::parse_within(&text, &FileSource::new(tier, path), self.budgets.entry(tier).or_default());
        let (rules, mut findings) = (parsed.rules.len(), parsed.findings);
        let mut kept = parsed.rules;
        if self.forgets_approvals {
            let saved: Vec<Rule> = kept.extract_if(.., |rule| rule.is_saved_approval()).collect();
            findings.extend(saved.first().map(|first| approvals_off(&first.origin, saved.len())));
        }
        self.rules.extend(kept);
        self.book.checkers.extend(parsed.checkers);
        self.book.files.push(PolicyFile {
            tier,
            path: path.to_owned(),
            is_named: self.is_named,
            rules,
            findings,
            unreadable: None,
            text: Some(text.into()),
        });
    }

    fn cannot(&mut self, tier: Tier, path: &Path, error: Error) {
        let (path, findings, is_named) = (path.to_owned(), Vec::new(), self.is_named);
        let (unreadable, text) = (Some(error), None);
        self.book.files.push(PolicyFile { tier, path, is_named, rules: 0, findings, unreadable, text });
    }
}

/// The policy files and folders that settings name.
pub(crate) fn named_policies(env: &HostEnv, settings: &Settings) -> Vec<PathBuf> {
    [OWN_PATHS, ADMIN_PATHS].iter().flat_map(|key| named_in(env, settings, key)).collect()
}

/// The paths under a key of the layers that have a say in it. A relative one starts at the file that names it.
fn named_in(env: &HostEnv, settings: &Settings, key: &str) -> Vec<PathBuf> {
    let has_a_say = |source| match source {
        SettingsSource::Workspace => false,
        SettingsSource::SystemDefaults | SettingsSource::SystemOverrides => true,
        _ => key == OWN_PATHS,
    };
    let layers = settings.layers.iter().filter(|layer| !layer.is_of_workspace() && has_a_say(layer.source));
    let entries = layers.filter_map(|layer| Some((layer.path.as_deref(), layer.entries(key)?)));
    let mut paths: Vec<PathBuf> = Vec::new();
    for (file, entries) in entries {
        let folder = file.and_then(Path::parent).unwrap_or(&env.workspace);
        for entry in entries {
            let path = match (entry.text.strip_prefix("~/"), &env.dirs.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => folder.join(&entry.text),
            };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// The finding about ignored saved answers.
fn approvals_off(origin: &RuleOrigin, count: usize) -> Finding {
    Finding {
        severity: Severity::Warning,
        file: origin.file.clone(),
        line: origin.line.unwrap_or(1),
        column: 1,
        message: match count {
            1 => format!("1 saved approval (`allow` at priority {SAVED_APPROVAL_PRIORITY}) does not count"),
            _ => format!("{count} saved approvals (`allow` at priority {SAVED_APPROVAL_PRIORITY}) do not count"),
        },
        hint: Some("`security.disableAlwaysAllow` or `admin.secureModeEnabled` is set".to_owned()),
    }
}

/// The rule that applies while a file is invalid: the missing rules may be denials.
fn everything_denied(error: &Error) -> Rule {
    let origin = RuleOrigin { label: "a policy file that cannot be used".to_owned(), ..RuleOrigin::default() };
    let rule = from_settings::about_server(ServerPattern::Any, Decision::Deny, PRIORITY_MAX, origin);
    Rule { tier: Tier::Admin, deny_message: Some(error.to_string()), ..rule }
}

fn unconfirmed_policies() -> Rule {
    let origin = RuleOrigin { label: "changed policies of the workspace".to_owned(), ..RuleOrigin::default() };
    let rule = from_settings::about_server(ServerPattern::Any, Decision::Ask, 0, origin);
    Rule { tier: Tier::Workspace, kind: RuleKind::Written, ..rule }
}
