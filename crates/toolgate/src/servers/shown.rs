//! Command lines and addresses as they may be shown to people and written to logs. References to secrets are shown as they are written.

use std::borrow::Cow;

use http::Uri;

use crate::servers::resolve::WrittenTarget;
use crate::servers::secret_look::{names_a_secret, value_looks_secret};
use crate::servers::secret_text;
use crate::servers::text::ConfigText;
use crate::settings::raw::{RawServer, TransportType};
use crate::settings::{Located, Part};

const COVER: &str = "****";

const NOT_A_URL: &str = "(not a URL)";

/// A command line on which what looks like a secret is covered.
pub(crate) fn shown_command(command: &str, args: &[ConfigText]) -> String {
    let plain_bytes = args.iter().filter_map(ConfigText::as_plain).map(|arg| arg.len() + 1).sum::<usize>();
    let mut shown = String::with_capacity(command.len() + plain_bytes);
    shown.push_str(&quoted(command));
    let mut last_named_a_secret = false;
    for arg in args {
        let start = match arg.parts() {
            [Part::Plain(start), ..] => start,
            _ => "",
        };
        let is_flag = start.starts_with('-');
        let text = if last_named_a_secret && !is_flag { covered(arg).into() } else { shown_argument(arg) };
        shown.push(' ');
        shown.push_str(&quoted(&text));
        last_named_a_secret = is_flag && arg.as_plain().is_some_and(|arg| !arg.contains('=') && names_a_secret(arg));
    }
    // References are shown as written. A line without references is checked for every form of secret.
    if args.iter().any(|arg| arg.as_plain().is_none()) {
        return shown;
    }
    let marked = shown.replace(COVER, secret_text::COVERED);
    match secret_text::covered(&marked) {
        Cow::Borrowed(same) if same == marked => shown,
        clean => clean.replace(secret_text::COVERED, COVER),
    }
}

/// An argument of which only the references can be read.
fn covered(arg: &ConfigText) -> String {
    if !arg.has_references() {
        return COVER.to_owned();
    }
    arg.parts().iter().map(shown_part(|_| COVER.to_owned())).collect()
}

fn shown_part(plain: impl Fn(&str) -> String) -> impl Fn(&Part) -> String {
    move |part| match part {
        Part::Plain(text) => plain(text),
        Part::Secret(reference) => reference.to_string(),
    }
}

/// `--api-key=…`, `TOKEN=…`, `Authorization: …`, and texts that give themselves away.
fn shown_argument(arg: &ConfigText) -> Cow<'_, str> {
    // Most arguments are words without a separator.
    if let [Part::Plain(first), others @ ..] = arg.parts()
        && first.contains(['=', ':'])
        && !value_looks_secret(first)
    {
        let mut pairs = ["=", ": "].into_iter().filter_map(|separator| Some((separator, first.split_once(separator)?)));
        if let Some((separator, (name, value))) = pairs.find(|(_, (name, _))| names_a_secret(name)) {
            let rest = std::iter::once(Part::Plain(value.to_owned())).chain(others.iter().cloned());
            return format!("{name}{separator}{}", covered(&ConfigText::new(rest.collect()))).into();
        }
    }
    let plain = |text: &str| if value_looks_secret(text) { COVER.to_owned() } else { text.to_owned() };
    match arg.as_plain() {
        Some(text) if !value_looks_secret(text) => text.into(),
        _ => arg.parts().iter().map(shown_part(plain)).collect(),
    }
}

/// A word as a shell would need it.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_sign =
        |letter| matches!(letter, '-' | '_' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',' | '~' | '*' | '…');
    let is_plain = |letter: char| letter.is_alphanumeric() || is_sign(letter);
    let is_common = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if !word.is_empty() && (word.bytes().all(is_common) || word.chars().all(is_plain)) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''")).into()
    }
}

/// How an entry says that its server is reached, as it is written: an address beats a command, as it does when it is resolved.
#[must_use]
pub fn written_target(server: &RawServer) -> Option<WrittenTarget> {
    let written = |text: &Option<Located<String>>| {
        text.as_ref().map(|text| text.value.clone()).filter(|text| !text.trim().is_empty())
    };
    let (transport, target) = if let Some(name) = written(&server.builtin) {
        ("builtin", name)
    } else if let Some(url) = written(&server.http_url) {
        ("http", shown_raw_url(&url))
    } else if let Some(url) = written(&server.url) {
        let is_sse = server.transport_type.is_some_and(|kind| kind.value == TransportType::Sse);
        (if is_sse { "sse" } else { "http" }, shown_raw_url(&url))
    } else {
        let args = server.args.iter().flat_map(|args| &args.value).map(|arg| ConfigText::as_written(&arg.value));
        ("stdio", shown_command(&written(&server.command)?, &args.collect::<Vec<_>>()))
    };
    Some(WrittenTarget { transport, target })
}

/// An address without name, password and query. It need not be one before its variables are filled in.
pub(crate) fn shown_raw_url(url: &str) -> String {
    let (address, query) = match url.find(['?', '#']) {
        Some(at) => (url.split_at(at).0, "?…"),
        None => (url, ""),
    };
    let shown = match address.split_once("://") {
        Some((scheme, rest)) => {
            // A password may have a slash in it before it is filled in.
            let host_and_path = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://{host_and_path}{query}")
        }
        None => format!("{address}{query}"),
    };
    if value_looks_secret(&shown) { COVER.to_owned() } else { shown }
}

/// An address without name, password and query.
pub(crate) fn shown_url(url: &ConfigText) -> String {
    match url.as_plain() {
        Some(url) => shown_plain_url(url),
        None => shown_referring_url(url),
    }
}

fn shown_plain_url(url: &str) -> String {
    let Ok(uri) = url.parse::<Uri>() else { return NOT_A_URL.to_owned() };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return NOT_A_URL.to_owned();
    };
    let host = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
    let query = if uri.query().is_some() { "?…" } else { "" };
    format!("{scheme}://{host}{}{query}", uri.path())
}

/// The first of the characters that stand for references here; they mean nothing, and no address has one.
const MASK: u32 = 0xe000;

/// How many of those characters there are.
const MASKS_COUNT: usize = 0x1900;

/// The same where parts of the address are not known yet.
fn shown_referring_url(url: &ConfigText) -> String {
    let mut references = Vec::new();
    let mut masked = String::new();
    for part in url.parts() {
        match part {
            Part::Plain(text) if !text.is_ascii() => return NOT_A_URL.to_owned(),
            Part::Plain(text) => masked.push_str(text),
            Part::Secret(_) if references.len() >= MASKS_COUNT => return NOT_A_URL.to_owned(),
            Part::Secret(reference) => {
                masked.extend(u32::try_from(references.len()).ok().and_then(|index| char::from_u32(MASK + index)));
                references.push(reference);
            }
        }
    }
    let mut shown = String::new();
    for letter in cut_url(&masked).chars() {
        let index = u32::from(letter).checked_sub(MASK).and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| references.get(index)) {
            Some(reference) => shown.push_str(&reference.to_string()),
            None => shown.push(letter),
        }
    }
    shown
}

/// An address without name, password and query, whether it is a whole one or not.
fn cut_url(url: &str) -> String {
    let (url, query) = url.find(['?', '#']).map_or((url, ""), |end| (url.get(..end).unwrap_or_default(), "?…"));
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // What follows a colon and is no port may be a password, whose `@` comes with a reference.
    let is_port = |text: &str| text.chars().all(|letter| letter.is_ascii_digit() || !letter.is_ascii());
    let host = match host.rsplit_once(':') {
        Some((host, after)) if !is_port(after) && !host.starts_with('[') => format!("{host}:…"),
        _ => host.to_owned(),
    };
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{host}{path}{query}")
}
