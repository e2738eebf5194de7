//! `About`: what a server says about itself, and what follows from it: which methods exist, what results are wrapped in.

use crate::era::Version;
use crate::meta::{SERVER_INFO, TASKS_EXTENSION};
use crate::raw::RawJson;

/// What a server is and offers. Made once and shared; nothing of it is parsed again for a request.
#[derive(Debug, Clone)]
pub struct About {
    info: RawJson,
    capabilities: RawJson,
    instructions: Option<String>,
    versions: Vec<Version>,
    cache: CacheHints,
    features: u32,
    /// `_meta` of results that have none of their own.
    result_meta: RawJson,
}

/// How long, and for whom, lists and resources may be kept (2026-07-28), unless a result says so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHints {
    /// Milliseconds; 0 means not at all.
    pub ttl_ms: u64,
    /// Who may share it.
    pub scope: CacheScope,
}

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Everybody.
    Public,
    /// Nobody but the asking user.
    Private,
}

impl CacheScope {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// What a server may offer, as read from its capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Feature {
    Tools,
    ToolsChanged,
    Prompts,
    PromptsChanged,
    Resources,
    ResourcesChanged,
    ResourceUpdates,
    Completions,
    Logging,
    /// Tasks as the extension defines them.
    Tasks,
    /// Tasks as 2025-11-25 had them.
    ExperimentalTasks,
}

/// Where in the capabilities each feature stands; the last step must not be `false`.
const FEATURES: [(Feature, &[&str]); 11] = [
    (Feature::Tools, &["tools"]),
    (Feature::ToolsChanged, &["tools", "listChanged"]),
    (Feature::Prompts, &["prompts"]),
    (Feature::PromptsChanged, &["prompts", "listChanged"]),
    (Feature::Resources, &["resources"]),
    (Feature::ResourcesChanged, &["resources", "listChanged"]),
    (Feature::ResourceUpdates, &["resources", "subscribe"]),
    (Feature::Completions, &["completions"]),
    (Feature::Logging, &["logging"]),
    (Feature::Tasks, &["extensions", TASKS_EXTENSION]),
    (Feature::ExperimentalTasks, &["tasks"]),
];

impl About {
    /// A server of that name and version, with those capabilities (a JSON object as the protocol writes it).
    pub fn new(name: &str, version: &str, capabilities: RawJson) -> Self {
        Self::with_info(serde_json::json!({"name": name, "version": version}).into(), capabilities)
    }

    /// The same with the whole of `serverInfo`.
    pub fn with_info(info: RawJson, capabilities: RawJson) -> Self {
        let offered = |path: &[&str]| {
            let found = path.iter().try_fold(capabilities.clone(), |value, key| value.member(key));
            found.is_some_and(|value| !value.is_null() && value.as_bytes() != b"false")
        };
        let features = FEATURES.iter().filter(|(_, path)| offered(path)).map(|(feature, _)| 1 << *feature as u32).sum();
        let result_meta = RawJson::EMPTY_OBJECT.with_member(SERVER_INFO, &info);
        Self {
            info,
            capabilities,
            instructions: None,
            versions: Version::ALL.to_vec(),
            cache: CacheHints { ttl_ms: 0, scope: CacheScope::Private },
            features,
            result_meta,
        }
    }

    /// With a text on how to use the server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Speaking only these versions.
    #[must_use]
    pub fn versions(mut self, versions: impl Into<Vec<Version>>) -> Self {
        self.versions = versions.into();
        self.versions.sort_unstable();
        self
    }

    /// With other cache hints.
    #[must_use]
    pub fn cache(mut self, cache: CacheHints) -> Self {
        self.cache = cache;
        self
    }

    pub(crate) fn info(&self) -> &RawJson {
        &self.info
    }

    pub(crate) fn result_meta(&self) -> &RawJson {
        &self.result_meta
    }

    pub(crate) fn cache_hints(&self) -> CacheHints {
        self.cache
    }

    pub(crate) fn offers(&self, feature: Feature) -> bool {
        self.features & (1 << feature as u32) != 0
    }

    pub(crate) fn speaks(&self, version: Version) -> bool {
        self.versions.contains(&version)
    }

    /// Whether any version without a handshake is spoken.
    pub(crate) fn speaks_modern(&self) -> bool {
        self.versions.iter().any(|version| version.is_modern())
    }

    /// Whether any version with a handshake is spoken.
    pub(crate) fn speaks_legacy(&self) -> bool {
        self.versions.iter().any(|version| !version.is_modern())
    }

    /// The modern versions spoken, as `server/discover` and the version error list them.
    pub(crate) fn modern_versions(&self) -> Vec<&'static str> {
        self.versions.iter().filter(|version| version.is_modern()).map(|version| version.as_str()).collect()
    }

    /// What `initialize` agrees on: what was asked, else the newest that has a handshake.
    pub(crate) fn agree(&self, asked: &str) -> Option<Version> {
        let mut legacy = self.versions.iter().copied().filter(|version| !version.is_modern());
        let asked = Version::parse(asked);
        legacy.clone().find(|version| Some(*version) == asked).or_else(|| legacy.next_back())
    }

    /// Whether this server answers `method` at all in that version. Methods that no version knows are the service's own.
    pub(crate) fn answers(&self, version: Version, method: &str) -> bool {
        let feature = match method {
            "tools/list" | "tools/call" => Feature::Tools,
            "prompts/list" | "prompts/get" => Feature::Prompts,
            "resources/list" | "resources/templates/list" | "resources/read" => Feature::Resources,
            "resources/subscribe" | "resources/unsubscribe" => Feature::ResourceUpdates,
            "completion/complete" => Feature::Completions,
            "logging/setLevel" => Feature::Logging,
            "tasks/get" | "tasks/update" | "tasks/cancel" if version.is_modern() => Feature::Tasks,
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" => Feature::ExperimentalTasks,
            "subscriptions/listen" => return self.has_news(),
            _ => return true,
        };
        self.offers(feature)
    }

    fn has_news(&self) -> bool {
        use Feature::{PromptsChanged, ResourceUpdates, ResourcesChanged, Tasks, ToolsChanged};
        [ToolsChanged, PromptsChanged, ResourcesChanged, ResourceUpdates, Tasks]
            .into_iter()
            .any(|feature| self.offers(feature))
    }

    /// The answer to `initialize`. Extensions are left out: they came with 2026-07-28.
    pub(super) fn initialize_result(&self, version: Version) -> RawJson {
        let mut capabilities = RawJson::EMPTY_OBJECT;
        for (key, value) in self.capabilities.members().into_iter().rev().filter(|(key, _)| key != "extensions") {
            capabilities = capabilities.with_member(&key, &value);
        }
        let result = self.with_instructions(RawJson::EMPTY_OBJECT).with_member("serverInfo", &self.info);
        let result = result.with_member("capabilities", &capabilities);
        result.with_member("protocolVersion", &RawJson::string(version.as_str()))
    }

    /// The answer to `server/discover`, still without what every result of that version has.
    pub(super) fn discover_result(&self) -> RawJson {
        let result = self.with_instructions(RawJson::EMPTY_OBJECT).with_member("capabilities", &self.capabilities);
        result.with_member("supportedVersions", &serde_json::json!(self.modern_versions()).into())
    }

    fn with_instructions(&self, result: RawJson) -> RawJson {
        match &self.instructions {
            Some(text) => result.with_member("instructions", &RawJson::string(text)),
            None => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(capabilities: &'static str) -> About {
        About::new("s", "1", RawJson::from_bytes(capabilities).unwrap())
    }

    #[test]
    fn what_is_not_declared_is_not_answered() {
        let about = about(
            r#"{"tools":{"listChanged":false},"resources":{"subscribe":true},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
        );
        let cases = [
            ("tools/call", true),
            ("prompts/get", false),
            ("resources/read", true),
            ("resources/subscribe", true),
            ("logging/setLevel", false),
            ("subscriptions/listen", true),
            ("acme/anything", true),
        ];
        for (method, answered) in cases {
            assert_eq!(about.answers(Version::LATEST_LEGACY, method), answered, "{method}");
        }
        assert!(!about.offers(Feature::ToolsChanged) && about.offers(Feature::ResourceUpdates));
        assert!(about.answers(Version::LATEST, "tasks/get"));
        assert!(!about.answers(Version::LATEST_LEGACY, "tasks/get"));
        assert!(!self::about(r#"{"tools":{}}"#).answers(Version::LATEST, "subscriptions/listen"));
    }

    #[test]
    fn initialize_agrees_on_what_both_speak() {
        let all = about("{}");
        assert_eq!(all.agree("2025-03-26"), Some(Version::V2025_03_26));
        assert_eq!(all.agree("2026-07-28"), Some(Version::V2025_11_25));
        assert_eq!(all.agree("1999-01-01"), Some(Version::V2025_11_25));
        assert_eq!(all.clone().versions([Version::V2024_11_05]).agree("2025-11-25"), Some(Version::V2024_11_05));
        assert_eq!(all.versions([Version::V2026_07_28]).agree("2025-11-25"), None);
    }

    #[test]
    fn both_introductions_say_what_the_server_offers() {
        let about = about(r#"{"tools":{"x":1e2},"extensions":{"e":{}},"logging":{}}"#).instructions("Be kind.");
        assert_eq!(
            about.initialize_result(Version::V2025_06_18).as_str(),
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"x":1e2},"logging":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"Be kind."}"#
        );
        assert_eq!(
            about.discover_result().as_str(),
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"x":1e2},"extensions":{"e":{}},"logging":{}},"instructions":"Be kind."}"#
        );
    }
}
