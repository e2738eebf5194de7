//! Servers and offers for tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_wire::view::{CacheHint, Entry};
use toolgate_wire::{Era, RawJson, Version};

use crate::discovery::{Offered, OfferedList, UnusableEntry};
use crate::servers::{ConfigText, HttpConfig, ServerConfig, ServerName, StartLimit, StdioConfig, TransportConfig};
use crate::settings::raw::{OnBusy, StartMode};
use crate::settings::source::{SettingsOrigin, SettingsSource};

pub(super) fn server(transport: TransportConfig) -> ServerConfig {
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

pub(super) fn program(command: &str, args: &[&str]) -> StdioConfig {
    let args = args.iter().map(|text| ConfigText::as_written(text)).collect();
    StdioConfig { command: command.to_owned(), args, env: BTreeMap::new(), inherit_env: Vec::new(), cwd: None }
}

pub(super) fn stdio(command: &str, args: &[&str]) -> ServerConfig {
    server(TransportConfig::Stdio(program(command, args)))
}

pub(super) fn address(url: &str) -> HttpConfig {
    HttpConfig { url: ConfigText::as_written(url), headers: BTreeMap::new(), login: None }
}

pub(super) fn raw(text: &str) -> RawJson {
    RawJson::from_bytes(text.to_owned()).unwrap()
}

/// A point in time, in seconds.
pub(super) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// What a server with these capabilities says before it is asked for a list.
pub(super) fn offered(capabilities: &str) -> Offered {
    Offered {
        version: Version::V2025_11_25,
        era: Era::Legacy,
        info: raw(r#"{"name":"sample","version":"1"}"#),
        capabilities: raw(capabilities),
        instructions: None,
        said_at: at(0),
        tools: None,
        prompts: None,
        resources: None,
        templates: None,
        unread: Vec::new(),
    }
}

/// A list of these entries, read at that second.
pub(super) fn list<T: Entry>(entries: &[&str], seconds: u64) -> OfferedList<T> {
    OfferedList {
        entries: entries.iter().map(|entry| Arc::new(T::read(raw(entry)).unwrap())).collect(),
        set_aside: Vec::<UnusableEntry>::new(),
        cache: CacheHint::default(),
        read_at: at(seconds),
    }
}
