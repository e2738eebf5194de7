//! `ModelConfig`: which model is asked, where, with which key. Read from settings and the variables that are handed in.

use std::time::Duration;

use toolgate::settings::Settings;
use toolgate::{HostEnv, Secret, key_of_model};
use url::{Host, Url};

use crate::error::{ModelError, ModelErrorKind};
use crate::limits::{RETRIES_MAX, RETRY_FIRST_MS, TURNS_DEFAULT_COUNT};
use crate::route::Route;

/// Sent where a server takes any key: local ones do.
const NO_KEY: &str = "none";

/// Which model, where, with which key.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// The name, as it is written: `gemini-…`, `ollama::…`.
    pub name: String,
    /// The address of the provider, when it is not the usual one.
    pub base_url: Option<Url>,
    /// The key.
    pub key: Secret,
    /// Requests that one input of the person may lead to.
    pub max_turns: u32,
    /// The longest text of one result that the model gets, in characters; 0 is no limit. `None` is the usual one.
    pub result_chars_max: Option<usize>,
    /// When failed requests are made again.
    pub retry: Retry,
}

/// When failed requests are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often.
    pub times: u32,
    /// The wait before the first time; it doubles.
    pub first_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { times: RETRIES_MAX, first_wait: Duration::from_millis(RETRY_FIRST_MS) }
    }
}

impl ModelConfig {
    /// The model of the settings; `None` when they name none.
    ///
    /// # Errors
    /// When it cannot be asked: nobody has a model of that name, the address is none, or there is no key.
    pub async fn read(settings: &Settings, env: &HostEnv) -> Result<Option<Self>, ModelError> {
        match settings.model().name {
            Some(name) => Self::named(&name, settings, env).await.map(Some),
            None => Ok(None),
        }
    }

    /// The model of that name, with what the settings say besides. `model.apiKey` is for the model that they name: a model of another provider
    /// gets it only behind `model.baseUrl`, which stays what it is.
    ///
    /// # Errors
    /// When it cannot be asked, as above.
    pub async fn named(name: &str, settings: &Settings, env: &HostEnv) -> Result<Self, ModelError> {
        let written = settings.model();
        let route = Route::of(name)?;
        let base_url = written.base_url.as_deref().map(address).transpose()?;
        if let (Some(url), Some(origin)) = (&base_url, &written.base_url_of_folder)
            && !is_here(url)
        {
            let place = origin.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            let what = format!("model.baseUrl: a folder ({place}) cannot say that your key is sent to {url}");
            return Err(wrong(what).hinting("write it into your own settings when it is right"));
        }
        let is_for_it = |meant: &str| Route::of(meant).is_ok_and(|meant| meant.has_key_of(&route));
        let is_given = base_url.is_some() || written.name.as_deref().is_none_or(is_for_it);
        let key = match written.api_key.as_ref().filter(|_| is_given) {
            Some(key) => Some(key_of_model(env, key).await?),
            None => usual_key(&route, env),
        };
        Ok(Self {
            key: key_or_none(key, &route, base_url.is_some())?,
            name: name.to_owned(),
            base_url,
            max_turns: written.max_turns.unwrap_or(TURNS_DEFAULT_COUNT),
            result_chars_max: settings.output_threshold_chars(),
            retry: Retry::default(),
        })
    }
}

fn usual_key(route: &Route, env: &HostEnv) -> Option<Secret> {
    let mut values = route.key_variables.iter().filter_map(|name| env.vars.get(*name));
    values.find(|value| !value.is_empty()).map(|value| Secret::new(value.clone()))
}

/// Servers of one's own often take no key; providers always do.
fn key_or_none(key: Option<Secret>, route: &Route, has_own_address: bool) -> Result<Secret, ModelError> {
    match (key, route.key_variables.first()) {
        (Some(key), _) => Ok(key),
        (None, Some(variable)) if !has_own_address => {
            let what = format!("there is no key for the model `{}`", route.model);
            let hint = format!("set {variable}, or write `model.apiKey` into your settings");
            Err(wrong(what).hinting(hint))
        }
        (None, _) => Ok(Secret::new(NO_KEY)),
    }
}

/// An address, with the slash at its end that everything else is put behind.
fn address(text: &str) -> Result<Url, ModelError> {
    let bad = |why: &str| {
        wrong(format!("model.baseUrl: `{}` {why}", text.escape_debug())).hinting(
            "write the address of the provider with the path of its version, such as `http://localhost:8080/v1`",
        )
    };
    let mut url = Url::parse(text).map_err(|error| bad(&format!("is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(bad("is no address on the web"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("has something behind its path"));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether an address is on this machine.
pub(crate) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn wrong(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Settings, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;

    use toolgate::settings::read::read_text;
    use toolgate::settings::{Settings, SettingsSource};
    use toolgate::{HostDirs, HostEnv, SystemClock};

    use super::ModelConfig;

    fn written(source: SettingsSource, model: &str, vars: &[(&str, &str)]) -> (Settings, HostEnv) {
        let layer = read_text(&format!(r#"{{"model": {model}}}"#), Path::new("/s.json"), source).unwrap();
        let settings = Settings { layers: vec![layer], ..Settings::default() };
        let vars: BTreeMap<_, _> = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let dirs = HostDirs { user: "/none".into(), system: "/none".into(), home: None };
        let env = HostEnv { vars, dirs, workspace: "/none".into(), clock: Arc::new(SystemClock) };
        (settings, env)
    }

    fn in_words(found: &ModelConfig) -> String {
        let url = found.base_url.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{} {url} {} {}", found.name, found.key.expose(), found.max_turns)
    }

    async fn read(source: SettingsSource, model: &str, vars: &[(&str, &str)]) -> String {
        let (settings, env) = written(source, model, vars);
        match ModelConfig::read(&settings, &env).await {
            Ok(None) => "none".to_owned(),
            Ok(Some(found)) => in_words(&found),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn a_key_is_not_sent_to_whom_it_was_not_written_for() {
        let vars = [("GEMINI_API_KEY", "g"), ("OWN", "o")];
        let plain = r#"{"name": "gpt-x", "apiKey": "$OWN"}"#;
        let behind_address = r#"{"name": "gpt-x", "apiKey": "$OWN", "baseUrl": "http://near/v1"}"#;
        let cases = [
            (plain, "o3-y", "o3-y  o 50"),
            (plain, "gemini-y", "gemini-y  g 50"),
            (plain, "claude-y", "there is no key for the model `claude-y`"),
            (plain, "ollama::y", "ollama::y  none 50"),
            (plain, "y", "model.name: it does not say who has the model `y`"),
            (behind_address, "claude-y", "claude-y http://near/v1/ o 50"),
            (r#"{"apiKey": "$OWN"}"#, "claude-y", "claude-y  o 50"),
            ("{}", "gemini-y", "gemini-y  g 50"),
        ];
        for (model, name, expected) in cases {
            let (settings, env) = written(SettingsSource::User, model, &vars);
            let found = ModelConfig::named(name, &settings, &env).await;
            assert_eq!(
                found.map_or_else(|error| error.to_string(), |found| in_words(&found)),
                expected,
                "{model} {name}"
            );
        }
    }

    #[tokio::test]
    async fn settings_and_variables_come_to_a_model() {
        let key = [("OPENAI_API_KEY", "k"), ("GOOGLE_API_KEY", "g"), ("OWN", "o")];
        let user = SettingsSource::User;
        let folder = SettingsSource::Workspace;
        let cases = [
            (user, "{}", "none"),
            (user, r#"{"name": "gpt-x"}"#, "gpt-x  k 50"),
            (user, r#"{"name": "gpt-x", "apiKey": "${env:OWN}", "maxTurns": 2}"#, "gpt-x  o 2"),
            (user, r#"{"name": "gpt-x", "apiKey": "$OWN"}"#, "gpt-x  o 50"),
            (user, r#"{"name": "gpt-x", "apiKey": "$NONE"}"#, "model.apiKey: nothing is left of it"),
            (user, r#"{"name": "gemini-x"}"#, "gemini-x  g 50"),
            (user, r#"{"name": "claude-x"}"#, "there is no key for the model `claude-x`"),
            (user, r#"{"name": "claude-x", "baseUrl": "http://near/v1"}"#, "claude-x http://near/v1/ none 50"),
            (user, r#"{"name": "ollama::m"}"#, "ollama::m  none 50"),
            (folder, r#"{"name": "gpt-x", "baseUrl": "http://127.0.0.1:1/v1/"}"#, "gpt-x http://127.0.0.1:1/v1/ k 50"),
            (
                folder,
                r#"{"name": "gpt-x", "baseUrl": "https://far/v1"}"#,
                "model.baseUrl: a folder (/s.json) cannot say that your key is sent to https://far/v1/",
            ),
            (
                user,
                r#"{"name": "gpt-x", "baseUrl": "far/v1"}"#,
                "model.baseUrl: `far/v1` is no address: relative URL without a base",
            ),
            (
                user,
                r#"{"name": "gpt-x", "baseUrl": "ftp://far"}"#,
                "model.baseUrl: `ftp://far` is no address on the web",
            ),
            (
                user,
                r#"{"name": "gpt-x", "baseUrl": "http://a/?k=1"}"#,
                "model.baseUrl: `http://a/?k=1` has something behind its path",
            ),
        ];
        for (source, model, expected) in cases {
            assert_eq!(read(source, model, &key).await, expected, "{model}");
        }
    }
}
