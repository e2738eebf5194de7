//! The hash of how a server is reached: what somebody allowed it for good does not pass to another one that takes its name.

use serde_json::{Value, json};

use crate::canonical_json;
use crate::servers::config::{HttpConfig, ServerConfig, StdioConfig, TransportConfig};
use crate::servers::text::ConfigText;
use crate::settings::Part;
use crate::settings::source::SettingsSource;

/// The hash of how a server is reached: the program with its arguments, folder and the names of its variables, the address, or which built-in
/// server it is. References to secrets count as they are written, so that a new token is still the same server. One that a workspace folder
/// brings is another one in every folder, whatever it is called.
#[must_use]
pub fn identity(config: &ServerConfig) -> String {
    let target = match &config.transport {
        TransportConfig::Stdio(stdio) => of_program(stdio),
        TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => of_address(http),
        TransportConfig::BuiltIn(name) => json!({"name": name}),
    };
    let whole = json!({"transport": config.transport.kind(), "target": target, "broughtBy": brought_by(config)});
    canonical_json::hash(&whole)
}

fn of_program(stdio: &StdioConfig) -> Value {
    let args: Vec<Value> = stdio.args.iter().map(written).collect();
    let variables: Vec<&String> = stdio.env.keys().collect();
    let cwd = stdio.cwd.as_ref().map(|cwd| cwd.as_os_str().as_encoded_bytes());
    json!({"command": stdio.command, "args": args, "variables": variables, "cwd": cwd})
}

fn of_address(http: &HttpConfig) -> Value {
    json!({"url": written(&http.url)})
}

/// A text as it is written, references told apart: a text that looks like a reference is not one.
pub(crate) fn written(text: &ConfigText) -> Value {
    let part = |part: &Part| match part {
        Part::Plain(text) => json!({"text": text}),
        Part::Secret(reference) => json!({"reference": reference.to_string()}),
    };
    text.parts().iter().map(part).collect()
}

fn brought_by(config: &ServerConfig) -> Option<Vec<u8>> {
    let bytes = |path: &std::path::Path| path.as_os_str().as_encoded_bytes().to_vec();
    match &config.extension {
        Some(extension) if extension.is_of_workspace => Some(bytes(&extension.folder)),
        _ if config.origin.source == SettingsSource::Workspace => config.origin.path.as_deref().map(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::identity;
    use crate::servers::config::{ConfigText, HttpConfig, ServerConfig, ServerName, StdioConfig, TransportConfig};
    use crate::settings::raw::{OnBusy, StartMode};
    use crate::settings::source::{SettingsOrigin, SettingsSource};

    fn server(transport: TransportConfig) -> ServerConfig {
        ServerConfig {
            name: ServerName::new("s").unwrap(),
            transport,
            call_timeout: Duration::from_secs(1),
            max_duration: None,
            connect_timeout: Duration::from_secs(1),
            max_concurrency: 1,
            on_busy: OnBusy::default(),
            start: StartMode::default(),
            trust: false,
            description: None,
            include_tools: None,
            replaces_own: false,
            exclude_tools: Vec::new(),
            strict: false,
            origin: SettingsOrigin { source: SettingsSource::User, path: Some("/home/s.json".into()), line: Some(1) },
            extension: None,
        }
    }

    fn program(command: &str, args: &[&str]) -> StdioConfig {
        let args = args.iter().map(|text| ConfigText::as_written(text)).collect();
        StdioConfig { command: command.to_owned(), args, env: BTreeMap::new(), cwd: None }
    }

    fn address(url: &str) -> HttpConfig {
        HttpConfig { url: ConfigText::as_written(url), headers: BTreeMap::new(), login: None }
    }

    #[test]
    fn what_is_reached_otherwise_is_another_server() {
        let with = |name: &str, value: &str| {
            let env = BTreeMap::from([(name.to_owned(), ConfigText::as_written(value))]);
            StdioConfig { env, ..program("x", &["a", "b"]) }
        };
        let all = [
            TransportConfig::Stdio(program("x", &["a", "b"])),
            TransportConfig::Stdio(program("y", &["a", "b"])),
            TransportConfig::Stdio(program("x", &["a b"])),
            TransportConfig::Stdio(program("x", &["a", "${env:B}"])),
            TransportConfig::Stdio(with("TOKEN", "1")),
            TransportConfig::Stdio(with("KEY", "1")),
            TransportConfig::Stdio(StdioConfig { cwd: Some("/w".into()), ..program("x", &["a", "b"]) }),
            TransportConfig::Http(address("https://a.example/mcp")),
            TransportConfig::Http(address("https://b.example/mcp")),
            TransportConfig::Sse(address("https://a.example/mcp")),
            TransportConfig::BuiltIn("workspace".to_owned()),
        ];
        let hashes: Vec<String> = all.iter().map(|one| identity(&server(one.clone()))).collect();
        for (at, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..at].contains(hash), "{:?}", all[at]);
        }
        let mut looks_like = program("x", &["a"]);
        looks_like.args.push(ConfigText::from("${env:B}"));
        assert!(!hashes.contains(&identity(&server(TransportConfig::Stdio(looks_like)))), "text is no reference");
        let same = TransportConfig::Stdio(with("TOKEN", "2"));
        assert_eq!(identity(&server(same)), hashes[4], "the value of a variable may be a secret that is renewed");
        let same = TransportConfig::HttpOrSse(address("https://a.example/mcp"));
        assert_eq!(identity(&server(same)), hashes[7]);
    }

    #[test]
    fn how_a_server_is_tuned_does_not_matter_but_the_folder_that_brings_it_does() {
        let plain = server(TransportConfig::Stdio(program("node", &["server.js"])));
        let mut tuned = plain.clone();
        tuned.call_timeout = Duration::from_secs(9);
        tuned.exclude_tools = vec!["x".to_owned()];
        tuned.origin.path = Some("/etc/other.json".into());
        assert_eq!(identity(&tuned), identity(&plain));
        let brought = |path: &str| {
            let origin = SettingsOrigin { source: SettingsSource::Workspace, path: Some(path.into()), line: Some(1) };
            identity(&ServerConfig { origin, ..plain.clone() })
        };
        assert_ne!(brought("/one/.toolgate/settings.json"), identity(&plain));
        assert_ne!(brought("/one/.toolgate/settings.json"), brought("/other/.toolgate/settings.json"));
    }
}
