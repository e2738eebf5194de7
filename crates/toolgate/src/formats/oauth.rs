//! What clients write about logins, and the `oauth` object of our settings.

use crate::formats::found::NoteKind;
use crate::formats::json_text::of_raw;
use crate::formats::server_reader::{ServerReader, Unusable};
use crate::formats::server_writer::EntryWriter;
use crate::settings::Located;
use crate::settings::edit::Json;
use crate::settings::raw::{RawMember, RawServer, RawValue};

/// The keys under which a client writes each of the things it knows about a login. `None`: it does not know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OAuthKeys {
    pub(crate) client_id: &'static str,
    pub(crate) client_secret: Option<&'static str>,
    pub(crate) scopes: Option<Scopes>,
}

/// How a client writes scopes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scopes {
    /// As a list.
    List(&'static str),
    /// In one text, with blanks between them.
    Words(&'static str),
}

/// Reads the login of another client into our `oauth`.
pub(crate) fn read(
    reader: &mut ServerReader<'_>,
    field: &RawMember,
    keys: OAuthKeys,
) -> Result<Option<Located<RawValue>>, Unusable> {
    if matches!(field.value.value, RawValue::Null) {
        return Ok(None);
    }
    let at = field.value.at;
    let mut found = Vec::new();
    for member in reader.inside(field)? {
        let key = member.key.value.as_str();
        let text = |value: Located<String>| RawValue::Text(value.value);
        if key == keys.client_id {
            found.extend(reader.name(member)?.map(|id| ("clientId", text(id))));
        } else if Some(key) == keys.client_secret {
            found.extend(reader.name(member)?.map(|secret| ("clientSecret", text(secret))));
        } else {
            match keys.scopes {
                Some(Scopes::List(name)) if name == key => {
                    let scopes = reader.names(member)?;
                    found.extend(scopes.map(|scopes| ("scopes", list(scopes.value))));
                }
                Some(Scopes::Words(name)) if name == key => {
                    let words = reader.name(member)?.map(|words| words_of(&words));
                    found.extend(words.map(|words| ("scopes", list(words))));
                }
                _ => reader.lost(field, &format!("`{key}` is not known here")),
            }
        }
    }
    Ok(object(at, found))
}

/// An `oauth` object of our settings.
pub(crate) fn object(
    at: crate::settings::Position,
    members: Vec<(&'static str, RawValue)>,
) -> Option<Located<RawValue>> {
    let member = |(key, value): (&str, RawValue)| RawMember {
        key: Located { value: key.to_owned(), at },
        value: Located { value, at },
    };
    (!members.is_empty()).then(|| Located { value: RawValue::Object(members.into_iter().map(member).collect()), at })
}

/// A list of texts as a value.
pub(crate) fn list(texts: Vec<Located<String>>) -> RawValue {
    RawValue::List(texts.into_iter().map(|text| text.map(RawValue::Text)).collect())
}

fn words_of(words: &Located<String>) -> Vec<Located<String>> {
    words.value.split_whitespace().map(|word| Located { value: word.to_owned(), at: words.at }).collect()
}

/// Writes our `oauth` under the keys of another client; an empty object when nothing is left of it.
pub(crate) fn write(writer: &mut EntryWriter<'_>, server: &RawServer, keys: OAuthKeys) -> Vec<(String, Json)> {
    let mut written = Vec::new();
    for member in members(server) {
        let value = of_raw(&member.value.value);
        match (member.key.value.as_str(), keys.scopes) {
            ("clientId", _) => written.push((keys.client_id.to_owned(), value)),
            ("clientSecret", _) if keys.client_secret.is_some() => {
                written.extend(keys.client_secret.map(|key| (key.to_owned(), value)));
            }
            ("scopes", Some(Scopes::List(key))) => written.push((key.to_owned(), value)),
            ("scopes", Some(Scopes::Words(key))) => written.push((key.to_owned(), words(&value))),
            // A login is what every client does when it has to.
            ("enabled", _) => (),
            (key, _) => writer.note(NoteKind::Lost, &format!("oauth.{key}"), "there is no key for it there"),
        }
    }
    written
}

/// Writes our `oauth` as an object of another client, under that key; nothing when nothing is left of it.
pub(crate) fn write_object(writer: &mut EntryWriter<'_>, server: &RawServer, keys: OAuthKeys, key: &str) {
    let login = write(writer, server, keys);
    if !login.is_empty() {
        writer.set(key, Json::Object(login));
    }
}

fn words(scopes: &Json) -> Json {
    let Json::List(list) = scopes else { return scopes.clone() };
    let words = list.iter().filter_map(|one| if let Json::Text(text) = one { Some(text.as_str()) } else { None });
    Json::text(words.collect::<Vec<_>>().join(" "))
}

fn members(server: &RawServer) -> &[RawMember] {
    match server.oauth.as_ref().map(|oauth| &oauth.value) {
        Some(RawValue::Object(members)) => members,
        _ => &[],
    }
}
