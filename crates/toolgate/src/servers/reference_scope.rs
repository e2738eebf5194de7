//! Who may refer to which secrets. The keychain, the files and the commands of a person are for what the person or the administrator wrote;
//! a folder or an extension that somebody else wrote may name variables and no more.

use crate::settings::SettingsSource;
use crate::settings::diagnostic::KeyPath;
use crate::settings::raw::{RawList, RawMap, RawServer};
use crate::settings::secret_reference::{self, SecretKind};

/// Whether a reference of that kind may stand in settings from there.
#[must_use]
pub const fn may_refer(source: SettingsSource, kind: SecretKind) -> bool {
    match source {
        SettingsSource::Workspace | SettingsSource::Extension => matches!(kind, SecretKind::Env),
        SettingsSource::BuiltIn
        | SettingsSource::SystemDefaults
        | SettingsSource::User
        | SettingsSource::SystemOverrides
        | SettingsSource::CommandLine => true,
    }
}

/// A reference that may not stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfScope {
    /// The key within the entry, such as `env.TOKEN`.
    pub key: String,
    /// Where the secret would be kept.
    pub kind: SecretKind,
}

/// The first reference that an extension may not make, in what an entry of the settings takes over from the extension's entry of the same name.
/// Once both are one entry it cannot be told any more who wrote what, so this comes before.
#[must_use]
pub fn borrowed_out_of_scope(settings: &RawServer, extension: &RawServer) -> Option<OutOfScope> {
    let is_own = |name: &str| settings.env.iter().flat_map(|env| &env.value).any(|pair| pair.name.value == name);
    let oauth = extension.oauth.as_ref().filter(|_| settings.oauth.is_none());
    let texts = one("url", extension.url.as_ref().filter(|_| settings.url.is_none()).map(|url| url.value.as_str()))
        .into_iter()
        .chain(one(
            "httpUrl",
            extension.http_url.as_ref().filter(|_| settings.http_url.is_none()).map(|url| url.value.as_str()),
        ))
        .chain(list("args", extension.args.as_ref().filter(|_| settings.args.is_none())))
        .chain(map("headers", extension.headers.as_ref().filter(|_| settings.headers.is_none()), |_| true))
        .chain(map("env", extension.env.as_ref(), |name| !is_own(name)))
        .chain(oauth.iter().flat_map(|oauth| oauth.value.texts()).map(|text| ("oauth".to_owned(), text)));
    texts.into_iter().find_map(|(key, text)| first_out_of_scope(text).map(|kind| OutOfScope { key, kind }))
}

fn one<'t>(key: &str, text: Option<&'t str>) -> Option<(String, &'t str)> {
    text.map(|text| (key.to_owned(), text))
}

fn list<'t>(key: &'t str, texts: Option<&'t RawList>) -> impl Iterator<Item = (String, &'t str)> {
    let texts = texts.into_iter().flat_map(|texts| texts.value.iter().enumerate());
    texts.map(move |(index, text)| (KeyPath::top(key).index(index).to_string(), text.value.as_str()))
}

fn map<'t>(
    key: &'t str,
    pairs: Option<&'t RawMap>,
    counts: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (String, &'t str)> {
    let pairs = pairs.into_iter().flat_map(|pairs| &pairs.value).filter(move |pair| counts(&pair.name.value));
    pairs.map(move |pair| (KeyPath::top(key).key(&pair.name.value).to_string(), pair.value.value.as_str()))
}

/// Escaped or not: an extension has no reason to write one.
fn first_out_of_scope(text: &str) -> Option<SecretKind> {
    let found = text.match_indices("${").filter_map(|(start, mark)| text.get(start + mark.len()..));
    let kinds = found.filter_map(|inside| secret_reference::read(inside)?.ok().map(|(reference, _)| reference.kind));
    kinds.into_iter().find(|kind| !may_refer(SettingsSource::Extension, *kind))
}

#[cfg(test)]
mod tests {
    use super::borrowed_out_of_scope;
    use crate::settings::SettingsSource;
    use crate::settings::raw::{RawEntry, RawServer};
    use crate::settings::read::read_text;
    use std::path::Path;

    fn server(keys: &str) -> RawServer {
        let text = format!(r#"{{"mcpServers": {{"x": {{{keys}}}}}}}"#);
        let mut layer = read_text(&text, Path::new("/s.json"), SettingsSource::User).unwrap();
        match layer.settings.mcp_servers.remove(0).entry {
            RawEntry::Server(server) => *server,
            RawEntry::Broken(why) => panic!("{why}"),
        }
    }

    #[test]
    fn an_extension_cannot_hide_behind_the_settings() {
        let cases = [
            ("", r#""command": "c", "args": ["a", "x${cmd:y}"]"#, Some("args[1] cmd")),
            (r#""args": []"#, r#""command": "c", "args": ["${cmd:y}"]"#, None),
            ("", r#""command": "c", "args": ["${env:Y}"], "env": {"A": "$B"}"#, None),
            ("", r#""command": "c", "env": {"A": "b", "a b": "${file:~/x}"}"#, Some("env[\"a b\"] file")),
            (r#""env": {"A": "${keychain:mine}"}"#, r#""command": "c", "env": {"A": "${keychain:x}"}"#, None),
            (r#""env": {"B": "c"}"#, r#""command": "c", "env": {"A": "${keychain:x}"}"#, Some("env.A keychain")),
            ("", r#""url": "https://h/${cmd:y}""#, Some("url cmd")),
            (r#""url": "https://own/""#, r#""url": "https://h/${cmd:y}""#, None),
            (r#""url": "https://own/""#, r#""httpUrl": "https://h/${cmd:y}""#, Some("httpUrl cmd")),
            ("", r#""url": "https://h/", "headers": {"A": "${env:A}${file:x}"}"#, Some("headers.A file")),
            (r#""headers": {}"#, r#""url": "https://h/", "headers": {"A": "${file:x}"}"#, None),
            ("", r#""command": "c", "args": ["\\${cmd:y}"]"#, Some("args[0] cmd")),
            ("", r#""url": "https://h/", "oauth": {"clientSecret": "${file:x}"}"#, Some("oauth file")),
            (r#""oauth": {}"#, r#""url": "https://h/", "oauth": {"clientSecret": "${file:x}"}"#, None),
        ];
        for (settings, extension, expected) in cases {
            let found = borrowed_out_of_scope(&server(settings), &server(extension));
            let found = found.map(|found| format!("{} {}", found.key, found.kind.as_str()));
            assert_eq!(found.as_deref(), expected, "{settings} over {extension}");
        }
    }
}
