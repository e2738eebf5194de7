//! How to log in to a server, as the settings say it: `oauth`, the provider of credentials, and the command that prints headers.

use std::collections::BTreeMap;

use super::config::ConfigText;
use super::entry::{Entry, Field, Unusable};
use super::remote::{Refusal, check_written_url};
use crate::settings::expand::Unset;
use crate::settings::keys::words::GRANT_TYPES;
use crate::settings::raw::{AuthProviderType, GrantKind, RawMember, RawServer, RawValue};
use crate::settings::source::SettingsSource;
use crate::settings::{Located, Position};

/// The keys of `oauth` that hold an address.
const ADDRESSES: [&str; 7] =
    ["authorizationUrl", "tokenUrl", "registrationUrl", "issuer", "redirectUri", "clientMetadataUrl", "idpTokenUrl"];

/// The keys of `oauth` that may refer to a secret.
const SECRETS: [&str; 4] = ["clientSecret", "privateKey", "assertion", "idpClientSecret"];

/// How to log in to a server. What it says may be secret, and is only printed as far as it is a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginConfig {
    /// Where the credentials come from.
    pub provider: AuthProviderType,
    /// Whether a login may begin by itself.
    pub enabled: Option<bool>,
    /// How a token is got.
    pub grant: GrantKind,
    /// The other texts of `oauth`, by their key.
    pub texts: BTreeMap<String, ConfigText>,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// Who the token is for.
    pub audiences: Vec<String>,
    /// For impersonation: the client id that the token is made for.
    pub target_audience: Option<String>,
    /// For impersonation: the account that is acted for.
    pub target_service_account: Option<String>,
    /// A command that prints more headers.
    pub headers_helper: Option<String>,
}

impl Entry<'_> {
    /// What the entry says about logging in; `None` when it says nothing.
    pub(super) fn login(&mut self, raw: &RawServer) -> Result<Option<Box<LoginConfig>>, Unusable> {
        let mut login = LoginConfig {
            provider: raw.auth_provider_type.map(|provider| provider.value).unwrap_or_default(),
            target_audience: raw.target_audience.as_ref().map(|text| text.value.clone()),
            target_service_account: raw.target_service_account.as_ref().map(|text| text.value.clone()),
            headers_helper: self.headers_helper(raw)?,
            ..LoginConfig::default()
        };
        if let Some(Located { value: RawValue::Object(members), .. }) = &raw.oauth {
            for member in members {
                self.login_member(member, &mut login)?;
            }
        }
        self.check_grant(raw, &login)?;
        self.check_provider(raw, &login)?;
        Ok((login != LoginConfig::default()).then(|| Box::new(login)))
    }

    fn login_member(&mut self, member: &RawMember, login: &mut LoginConfig) -> Result<(), Unusable> {
        let (key, at) = (member.key.value.as_str(), member.value.at);
        match (key, &member.value.value) {
            ("enabled", RawValue::Bool(enabled)) => login.enabled = Some(*enabled),
            ("grantType", RawValue::Text(word)) => {
                let known = GRANT_TYPES.iter().find(|(name, _)| name == word);
                login.grant = known.map(|(_, grant)| *grant).unwrap_or_default();
            }
            ("scopes", value) => login.scopes = self.words(at, key, value)?,
            ("audiences", value) => login.audiences = self.words(at, key, value)?,
            ("tokenParamName", _) => (),
            (_, RawValue::Text(text)) if !text.trim().is_empty() => {
                let text = self.login_text(key, &Located { value: text.clone(), at })?;
                login.texts.insert(key.to_owned(), text);
            }
            _ => (),
        }
        Ok(())
    }

    fn login_text(&mut self, key: &str, written: &Located<String>) -> Result<ConfigText, Unusable> {
        let field = Field::Member("oauth", key);
        if !SECRETS.contains(&key) {
            self.refuse_reference(written, field)?;
        }
        let text = self.text(written, field, Unset::Keep)?;
        let text = if key == "privateKey" { text } else { text.trimmed() };
        if ADDRESSES.contains(&key)
            && let Err(Refusal { message, hint }) = check_written_url(&text)
        {
            return Err(self.refuse(written.at, field, &message, hint));
        }
        Ok(text)
    }

    /// A list, or one text with blanks in it.
    fn words(&mut self, at: Position, key: &str, value: &RawValue) -> Result<Vec<String>, Unusable> {
        let written: Vec<&str> = match value {
            RawValue::Text(text) => vec![text],
            RawValue::List(list) => list.iter().filter_map(|one| one.value.as_text()).collect(),
            _ => Vec::new(),
        };
        let mut words = Vec::new();
        for text in written {
            let located = Located { value: text.to_owned(), at };
            self.refuse_reference(&located, Field::Member("oauth", key))?;
            let text = self.text(&located, Field::Member("oauth", key), Unset::Keep)?;
            words.extend(text.with_stand_ins("").split_whitespace().map(str::to_owned));
        }
        Ok(words)
    }

    /// Whether everything is there that a grant needs.
    fn check_grant(&mut self, raw: &RawServer, login: &LoginConfig) -> Result<(), Unusable> {
        let needed: &[&str] = match login.grant {
            GrantKind::AuthorizationCode | GrantKind::DeviceCode => &[],
            GrantKind::ClientCredentials => &["clientId"],
            GrantKind::WorkloadIdentity => &["clientId", "assertion"],
            GrantKind::Enterprise => &["clientId", "assertion", "idpTokenUrl"],
        };
        let at = raw.oauth.as_ref().map_or(self.name.at, |oauth| oauth.at);
        if let Some(missing) = needed.iter().find(|key| !login.texts.contains_key(**key)) {
            let message = format!("this `grantType` needs `{missing}`");
            return Err(self.refuse(at, Field::Key("oauth"), &message, "add it"));
        }
        let is_credential = |key: &&str| login.texts.contains_key(*key);
        if login.grant == GrantKind::ClientCredentials && !["clientSecret", "privateKey"].iter().any(is_credential) {
            let message = "this `grantType` needs `clientSecret` or `privateKey`";
            return Err(self.refuse(at, Field::Key("oauth"), message, "add one of them"));
        }
        Ok(())
    }

    /// Whether everything is there that a provider needs.
    fn check_provider(&mut self, raw: &RawServer, login: &LoginConfig) -> Result<(), Unusable> {
        let Some(provider) = raw.auth_provider_type else { return Ok(()) };
        let missing = match provider.value {
            AuthProviderType::DynamicDiscovery => None,
            AuthProviderType::GoogleCredentials => login.scopes.is_empty().then_some("oauth.scopes"),
            AuthProviderType::ServiceAccountImpersonation => {
                match (&login.target_audience, &login.target_service_account) {
                    (None, _) => Some("targetAudience"),
                    (_, None) => Some("targetServiceAccount"),
                    _ => None,
                }
            }
        };
        let Some(missing) = missing else { return Ok(()) };
        let message = format!("these credentials need `{missing}`");
        Err(self.refuse(provider.at, Field::Key("authProviderType"), &message, "add it"))
    }

    /// A command that runs unasked is for whoever may run commands: the person and the administrator.
    fn headers_helper(&mut self, raw: &RawServer) -> Result<Option<String>, Unusable> {
        let Some(helper) = raw.headers_helper.as_ref().filter(|helper| !helper.value.trim().is_empty()) else {
            return Ok(None);
        };
        if matches!(self.layer.source, SettingsSource::Workspace | SettingsSource::Extension) {
            let message = "only your own settings and those of the administrator can name a command here";
            return Err(self.refuse(helper.at, Field::Key("headersHelper"), message, "write it in your own settings"));
        }
        Ok(Some(helper.value.clone()))
    }
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
