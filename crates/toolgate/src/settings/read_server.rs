//! One entry of `mcpServers`, field by field.

use jsonc_parser::ast::Value;

use crate::settings::diagnostic::KeyPath;
use crate::settings::keys::words::{AUTH_PROVIDERS, ON_BUSY, OTHER_WORDS_FOR_HTTP, START_MODES, TRANSPORT_TYPES};
use crate::settings::keys::{SERVER, Shape, find};
use crate::settings::known_keys;
use crate::settings::position::Located;
use crate::settings::raw::{RawEntry, RawServer, TransportType};
use crate::settings::read_shape::read_shape;
use crate::settings::value_reader::{Read, ValueReader, WrongValue};

/// The first wrong value decides: an entry is used as a whole or not at all.
pub(crate) fn read_entry(reader: &mut ValueReader<'_>, value: &Value<'_>, key: KeyPath<'_>) -> RawEntry {
    if !matches!(value, Value::Object(_)) {
        let hint = "write an object such as {\"command\": \"npx\", \"args\": [\"-y\", \"package\"]}";
        return RawEntry::Broken(reader.wrong(value, key, "an object", Some(hint)).0);
    }
    let mut server = Box::<RawServer>::default();
    let mut broken = None;
    let members = match reader.object(value, key) {
        Ok(members) => members,
        Err(WrongValue(reason)) => return RawEntry::Broken(reason),
    };
    for (name, member) in members {
        let field = key.key(name);
        let read = match find(SERVER, name) {
            Some(known) => read_field(&mut server, reader, name, (&member.value, field, known.shape)),
            None => Ok(Field::Unknown),
        };
        match read {
            Ok(Field::Known) => (),
            Ok(Field::Unknown) => {
                let hint = known_keys::hint_for_server_key(name);
                reader.warn(reader.place(&member.name), field, "unknown key", Some(hint));
            }
            Err(WrongValue(reason)) => broken = broken.or(Some(reason)),
        }
    }
    broken.map_or(RawEntry::Server(server), RawEntry::Broken)
}

enum Field {
    Known,
    Unknown,
}

fn read_field(
    server: &mut RawServer,
    reader: &mut ValueReader<'_>,
    name: &str,
    (value, key, shape): (&Value<'_>, KeyPath<'_>, Shape),
) -> Result<Field, WrongValue> {
    match name {
        "command" => server.command = reader.text(value, key)?,
        "args" => server.args = reader.list(value, key)?,
        "env" => server.env = reader.map(value, key)?,
        "inheritEnv" => server.inherit_env = reader.list_or_all(value, key)?,
        "cwd" => server.cwd = reader.text(value, key)?,
        "url" => server.url = reader.text(value, key)?,
        "httpUrl" => server.http_url = reader.text(value, key)?,
        "headers" => server.headers = reader.map(value, key)?,
        "headersHelper" => server.headers_helper = reader.text(value, key)?,
        "type" => server.transport_type = read_transport_type(reader, value, key)?,
        "tcp" => server.tcp = reader.text(value, key)?,
        "builtin" => server.builtin = reader.text(value, key)?,
        "timeout" => server.timeout = reader.number(value, key)?,
        "connectTimeout" => server.connect_timeout = reader.number(value, key)?,
        "maxDuration" => server.max_duration = reader.number(value, key)?,
        "maxConcurrency" => server.max_concurrency = reader.number(value, key)?,
        "onBusy" => server.on_busy = reader.word(value, key, &ON_BUSY)?,
        "start" => server.start = reader.word(value, key, &START_MODES)?,
        "trust" => server.trust = reader.truth(value, key)?,
        "description" => server.description = reader.text(value, key)?,
        "includeTools" => server.include_tools = reader.list_or_one(value, key)?,
        "excludeTools" => server.exclude_tools = reader.list_or_one(value, key)?,
        "oauth" => {
            let oauth = read_shape(reader, value, key, shape);
            server.oauth = (!matches!(value, Value::NullKeyword(_))).then_some(oauth.value);
            if let Some(wrong) = oauth.wrong {
                return Err(wrong);
            }
        }
        "authProviderType" => server.auth_provider_type = reader.word(value, key, &AUTH_PROVIDERS)?,
        "targetAudience" => server.target_audience = reader.text(value, key)?,
        "targetServiceAccount" => server.target_service_account = reader.text(value, key)?,
        _ => return Ok(Field::Unknown),
    }
    Ok(Field::Known)
}

fn read_transport_type(
    reader: &mut ValueReader<'_>,
    value: &Value<'_>,
    key: KeyPath<'_>,
) -> Read<Located<TransportType>> {
    if let Value::StringLit(text) = value
        && OTHER_WORDS_FOR_HTTP.contains(&&*text.value)
    {
        let at = reader.place(value);
        let message = format!("`{}` is read as `http`", text.value);
        reader.warn(at, key, message, Some("write \"http\"".to_owned()));
        return Ok(Some(Located { value: TransportType::Http, at }));
    }
    reader.word(value, key, &TRANSPORT_TYPES)
}
