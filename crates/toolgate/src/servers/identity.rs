//! The hash of how a server is reached: what somebody allowed it for good does not pass to another one that takes its name.

use crate::hex::hex;
use crate::parts_digest::PartsDigest;
use crate::servers::config::{ServerConfig, TransportConfig};
use crate::servers::text::ConfigText;
use crate::settings::Part;
use crate::settings::source::SettingsSource;

/// The hash of how a server is reached: the program with its arguments, folder and the names of its variables, the address, or which built-in
/// server it is. References to secrets count as they are written, so that a new token is still the same server. One that a workspace folder
/// brings is another one in every folder, whatever it is called.
#[must_use]
pub fn identity(config: &ServerConfig) -> String {
    let mut parts = PartsDigest::default();
    put_identity(config, &mut parts);
    format!("sha256:{}", hex(&parts.finish()))
}

/// Everything that decides which server it is.
pub(crate) fn put_identity(config: &ServerConfig, parts: &mut PartsDigest) {
    parts.put(config.transport.kind());
    match &config.transport {
        TransportConfig::Stdio(stdio) => {
            parts.put(&stdio.command);
            parts.count(stdio.args.len());
            stdio.args.iter().for_each(|argument| put_written(argument, parts));
            parts.all(stdio.env.keys());
            if !stdio.inherit_env.is_empty() {
                parts.all(stdio.inherit_env.iter());
            }
            parts.maybe(stdio.cwd.as_ref().map(|cwd| cwd.as_os_str().as_encoded_bytes()));
        }
        TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => {
            put_written(&http.url, parts);
        }
        // What was allowed before goes on to count when a folder is included.
        TransportConfig::BuiltIn(built_in) => parts.put(&built_in.name),
    }
    parts.maybe(brought_by(config));
}

/// A text as it is written, references told apart: a text that looks like a reference is not one.
pub(crate) fn put_written(text: &ConfigText, parts: &mut PartsDigest) {
    parts.count(text.parts().len());
    for part in text.parts() {
        match part {
            Part::Plain(text) => parts.all([text.as_str()].into_iter()),
            Part::Secret(reference) => parts.all(["reference", &reference.to_string()].into_iter()),
        }
    }
}

fn brought_by(config: &ServerConfig) -> Option<&[u8]> {
    let path = match &config.extension {
        Some(extension) if extension.is_of_workspace => Some(extension.folder.as_path()),
        _ if config.origin.source == SettingsSource::Workspace => config.origin.path.as_deref(),
        _ => None,
    };
    path.map(|path| path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::identity;
    use crate::servers::config::{
        ConfigText, HttpConfig, ServerConfig, ServerName, StartLimit, StdioConfig, TransportConfig,
    };
    use crate::settings::raw::{OnBusy, StartMode};
    use crate::settings::source::{SettingsOrigin, SettingsSource};

    fn server(transport: TransportConfig) -> ServerConfig {
        ServerConfig {
            name: ServerName::new("s").unwrap(),
            transport,
            call_timeout: Duration::from_secs(1),
            max_duration: None,
            connect_timeout: Duration::from_secs(1),
            start_limit: StartLimit::of(None, None),
            max_concurrency: 1,
            on_busy: OnBusy::default(),
            start: StartMode::default(),
            trust: false,
            description: None,
            include_tools: None,
            replaces_own: false,
            exclude_tools: Vec::new(),
            strict: None,
            origin: SettingsOrigin { source: SettingsSource::User, path: Some("/home/s.json".into()), line: Some(1) },
            extension: None,
        }
    }

    fn program(command: &str, args: &[&str]) -> StdioConfig {
        let args = args.iter().map(|text| ConfigText::as_written(text)).collect();
        StdioConfig { command: command.to_owned(), args, env: BTreeMap::new(), inherit_env: Vec::new(), cwd: None }
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
            TransportConfig::BuiltIn("workspace".into()),
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
