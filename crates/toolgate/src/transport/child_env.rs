//! Which variables a child receives: what every program needs, what of the host's environment is not secret, and what its settings say.

use std::collections::BTreeMap;

use crate::servers::secret_look::{names_a_secret, value_looks_secret};
use crate::settings::EnvExceptions;

/// What every program needs, passed on whatever it looks like.
#[cfg(not(windows))]
const NEEDED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// What every program needs, passed on whatever it looks like.
#[cfg(windows)]
const NEEDED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// Tells a child who started it.
const MARK: (&str, &str) = ("TOOLGATE", "1");

/// Passed on in spite of the rules below: of the system, of terminals, of continuous integration, and where we live ourselves.
const ALWAYS_ALLOWED: &[&str] = &[
    "PATH",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "SYSTEMDRIVE",
    "HOME",
    "LANG",
    "SHELL",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "TERM",
    "COLORTERM",
    "ADDITIONAL_CONTEXT",
    "AVAILABLE_LABELS",
    "BRANCH_NAME",
    "DESCRIPTION",
    "EVENT_NAME",
    "GITHUB_ENV",
    "IS_PULL_REQUEST",
    "ISSUES_TO_TRIAGE",
    "ISSUE_BODY",
    "ISSUE_NUMBER",
    "ISSUE_TITLE",
    "PULL_REQUEST_NUMBER",
    "REPOSITORY",
    "TITLE",
    "TRIGGERING_ACTOR",
    "TOOLGATE_HOME",
    "TOOLGATE_SYSTEM_DIR",
];

/// Never passed on: secret or telling without looking like it, and decisions about trust that were made for this process alone.
const NEVER_ALLOWED: &[&str] = &[
    "CLIENT_ID",
    "DB_URI",
    "CONNECTION_STRING",
    "AWS_DEFAULT_REGION",
    "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID",
    "SLACK_WEBHOOK_URL",
    "TWILIO_ACCOUNT_SID",
    "DATABASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_ACCOUNT",
    "FIREBASE_PROJECT_ID",
    "TOOLGATE_TRUST_WORKSPACE",
    "TOOLGATE_IDE_WORKSPACE_TRUST",
];

/// What every child of one host is passed. Found once, because the environment of a host does not change.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PassedOn(BTreeMap<String, String>);

impl PassedOn {
    /// Picks what is passed on from the environment of the host.
    #[must_use]
    pub(crate) fn from_host(host: &BTreeMap<String, String>, exceptions: &EnvExceptions) -> Self {
        let is_automation = is_automation(host);
        let picked = host.iter().filter(|(name, value)| {
            // A shell function, not a value; shells have run what follows it.
            let is_function = value.starts_with("()");
            let is_needed = NEEDED.contains(&name.as_str());
            !is_function && (is_needed || is_passed_on(name, value, exceptions, is_automation))
        });
        let mut passed: BTreeMap<_, _> = picked.map(|(name, value)| (name.clone(), value.clone())).collect();
        passed.insert(MARK.0.to_owned(), MARK.1.to_owned());
        Self(passed)
    }

    /// The whole environment of one child. What its settings say wins, secret or not.
    #[must_use]
    pub(crate) fn for_child(&self, configured: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut env = self.0.clone();
        env.extend(configured.iter().map(|(name, value)| (name.clone(), value.clone())));
        env
    }

    /// The names of the variables, for people who want to know.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for PassedOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Where a machine runs what strangers propose, only what is known to be harmless is passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Automation {
    Yes,
    No,
}

fn is_automation(host: &BTreeMap<String, String>) -> Automation {
    let on_github = host.get("GITHUB_SHA").is_some_and(|sha| !sha.is_empty());
    let says_so = host.get("SURFACE").is_some_and(|surface| surface == "Github");
    if on_github || says_so { Automation::Yes } else { Automation::No }
}

/// The first rule that applies decides.
fn is_passed_on(name: &str, value: &str, exceptions: &EnvExceptions, automation: Automation) -> bool {
    let name = name.to_ascii_uppercase();
    let is_in = |list: &[String]| list.iter().any(|entry| entry.eq_ignore_ascii_case(&name));
    if value_looks_secret(value) {
        false
    } else if name.starts_with("GIT_CONFIG_") || is_in(&exceptions.allowed) {
        true
    } else if is_in(&exceptions.blocked) {
        false
    } else if ALWAYS_ALLOWED.contains(&name.as_str()) {
        true
    } else if NEVER_ALLOWED.contains(&name.as_str()) || automation == Automation::Yes {
        false
    } else {
        !names_a_secret(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::PassedOn;
    use crate::settings::EnvExceptions;
    use std::collections::BTreeMap;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn exceptions() -> EnvExceptions {
        EnvExceptions {
            allowed: vec!["my_api_key".to_owned(), "BOTH".to_owned()],
            blocked: vec!["NOTES".to_owned(), "BOTH".to_owned(), "PATH".to_owned(), "LANG".to_owned()],
        }
    }

    #[test]
    fn each_rule_decides_in_its_turn() {
        let token = format!("ghp_{}", "a".repeat(36));
        let cases = [
            ("PATH", "/bin", true),
            ("PATH", token.as_str(), true),
            ("LANG", "C", false),
            ("TMPDIR", "/tmp", true),
            ("TMPDIR", token.as_str(), false),
            ("EDITOR", "vi", true),
            ("EDITOR", token.as_str(), false),
            ("EDITOR", "() { :; }; rm x", false),
            ("HOME", "() { :; }", false),
            ("GIT_CONFIG_KEY_0", "user.name", true),
            ("GIT_CONFIG_VALUE_0", token.as_str(), false),
            ("MY_API_KEY", "plain", true),
            ("My_Api_Key", "plain", true),
            ("MY_API_KEY", token.as_str(), false),
            ("OTHER_API_KEY", "plain", false),
            ("NOTES", "plain", false),
            ("BOTH", "plain", true),
            ("DATABASE_URL", "x", false),
            ("database_url", "x", false),
            ("SSH_AUTH_SOCK", "/tmp/x", false),
            ("HTTPS_PROXY", "http://proxy:3128", true),
            ("HTTPS_PROXY", "http://ada:sesame@proxy:3128", false),
            ("TOOLGATE_HOME", "/t", true),
            ("TOOLGATE_API_KEY", "x", false),
            ("TOOLGATE_TRUST_WORKSPACE", "true", false),
            ("TOOLGATE_IDE_WORKSPACE_TRUST", "true", false),
        ];
        for (name, value, expected) in cases {
            let passed = PassedOn::from_host(&map(&[(name, value)]), &exceptions());
            assert_eq!(passed.names().any(|one| one == name), expected, "{name}={value}");
        }
    }

    #[test]
    fn in_automation_only_what_is_known_passes() {
        for mark in [("GITHUB_SHA", "abc"), ("SURFACE", "Github")] {
            let host = [mark, ("EDITOR", "vi"), ("PATH", "/bin"), ("ISSUE_TITLE", "t"), ("TOOLGATE_HOME", "/t")];
            let passed = PassedOn::from_host(&map(&host), &EnvExceptions::default());
            assert_eq!(passed.names().collect::<Vec<_>>(), ["ISSUE_TITLE", "PATH", "TOOLGATE", "TOOLGATE_HOME"]);
        }
        let ordinary = map(&[("GITHUB_SHA", ""), ("SURFACE", "desk"), ("EDITOR", "vi")]);
        let passed = PassedOn::from_host(&ordinary, &EnvExceptions::default());
        assert!(passed.names().any(|name| name == "EDITOR"));
    }

    #[test]
    fn what_the_settings_say_comes_last_and_is_never_held_back() {
        let host = map(&[("EDITOR", "vi"), ("TOOLGATE", "0"), ("API_KEY", "of the host")]);
        let passed = PassedOn::from_host(&host, &EnvExceptions::default());
        assert_eq!(passed.for_child(&map(&[])), map(&[("EDITOR", "vi"), ("TOOLGATE", "1")]));
        let configured = map(&[("EDITOR", "ed"), ("API_KEY", "sesame")]);
        let expected = map(&[("API_KEY", "sesame"), ("EDITOR", "ed"), ("TOOLGATE", "1")]);
        assert_eq!(passed.for_child(&configured), expected);
        assert!(!format!("{passed:?}").contains("vi"));
    }
}
