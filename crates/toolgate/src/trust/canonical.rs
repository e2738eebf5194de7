//! One entry of a workspace's settings as bytes that are the same when it means the same, and differ when it does not: what stands in it in a
//! fixed order, each text behind its length. Hashed, they tell whether an entry changed.
//!
//! Nothing is expanded. What only tunes a server (its time limits, its description) is left out, so that changing it asks nobody again.

use ring::digest::{SHA256, digest};

use crate::settings::Located;
use crate::settings::raw::{AuthProviderType, RawList, RawMap, RawServer, RawValue, TransportType};

/// Takes an entry down, part by part.
#[derive(Debug)]
pub(crate) struct Canonical(Vec<u8>);

impl Canonical {
    /// Begins with a word that says what follows.
    pub(crate) fn new(what: &str) -> Self {
        let mut canonical = Self(Vec::new());
        canonical.text(what);
        canonical
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_le_bytes());
    }

    /// What is not written is not the same as what is written empty.
    fn optional<T>(&mut self, key: &str, value: Option<&T>, put: impl FnOnce(&mut Self, &T)) {
        if let Some(value) = value {
            self.text(key);
            put(self, value);
        }
    }

    fn optional_text(&mut self, key: &str, value: Option<&Located<String>>) {
        self.optional(key, value, |canonical, text| canonical.text(&text.value));
    }

    fn optional_list(&mut self, key: &str, value: Option<&RawList>) {
        self.optional(key, value, |canonical, list| {
            canonical.count(list.value.len());
            list.value.iter().for_each(|element| canonical.text(&element.value));
        });
    }

    fn optional_map(&mut self, key: &str, value: Option<&RawMap>) {
        self.optional(key, value, |canonical, map| {
            let mut pairs: Vec<_> = map.value.iter().collect();
            pairs.sort_by(|one, other| one.name.value.cmp(&other.name.value));
            canonical.count(pairs.len());
            for pair in pairs {
                canonical.text(&pair.name.value);
                canonical.text(&pair.value.value);
            }
        });
    }

    fn value(&mut self, value: &RawValue) {
        match value {
            RawValue::Null => self.text("null"),
            RawValue::Bool(truth) => self.text(word(*truth)),
            RawValue::Number(number) => {
                self.text("number");
                self.text(number);
            }
            RawValue::Text(text) => {
                self.text("text");
                self.text(text);
            }
            RawValue::List(list) => {
                self.text("list");
                self.count(list.len());
                list.iter().for_each(|element| self.value(&element.value));
            }
            RawValue::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by(|one, other| one.key.value.cmp(&other.key.value));
                self.text("object");
                self.count(members.len());
                for member in members {
                    self.text(&member.key.value);
                    self.value(&member.value.value);
                }
            }
        }
    }

    /// Everything that decides what is started or spoken to, with what, and what it may do unasked. In the order of the keys.
    pub(crate) fn server(&mut self, server: &RawServer) {
        self.optional_list("args", server.args.as_ref());
        self.optional("authProviderType", server.auth_provider_type.as_ref(), |canonical, provider| {
            canonical.text(match provider.value {
                AuthProviderType::DynamicDiscovery => "dynamic_discovery",
                AuthProviderType::GoogleCredentials => "google_credentials",
                AuthProviderType::ServiceAccountImpersonation => "service_account_impersonation",
            });
        });
        self.optional_text("builtin", server.builtin.as_ref());
        self.optional_text("command", server.command.as_ref());
        self.optional_text("cwd", server.cwd.as_ref());
        self.optional_map("env", server.env.as_ref());
        self.optional_list("excludeTools", server.exclude_tools.as_ref());
        self.optional_map("headers", server.headers.as_ref());
        self.optional_text("headersHelper", server.headers_helper.as_ref());
        self.optional_text("httpUrl", server.http_url.as_ref());
        self.optional_list("inheritEnv", server.inherit_env.as_ref());
        self.optional_list("includeTools", server.include_tools.as_ref());
        self.optional("oauth", server.oauth.as_ref(), |canonical, oauth| canonical.value(&oauth.value));
        self.optional_text("targetAudience", server.target_audience.as_ref());
        self.optional_text("targetServiceAccount", server.target_service_account.as_ref());
        self.optional_text("tcp", server.tcp.as_ref());
        self.optional("trust", server.trust.as_ref(), |canonical, trust| canonical.text(word(trust.value)));
        self.optional("type", server.transport_type.as_ref(), |canonical, kind| {
            canonical.text(match kind.value {
                TransportType::Stdio => "stdio",
                TransportType::Http => "http",
                TransportType::Sse => "sse",
            });
        });
        self.optional_text("url", server.url.as_ref());
    }

    /// The hash of all of it.
    pub(crate) fn hash(&self) -> String {
        let mut text = "sha256:".to_owned();
        for byte in digest(&SHA256, &self.0).as_ref() {
            for half in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(half.into(), 16));
            }
        }
        text
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

const fn word(truth: bool) -> &'static str {
    if truth { "true" } else { "false" }
}
