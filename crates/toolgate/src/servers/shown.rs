//! Command lines and addresses as they may be shown to people and written to logs.

use http::Uri;

use crate::servers::secret_look::{names_a_secret, value_looks_secret};

const COVER: &str = "****";

/// A command line on which what looks like a secret is covered.
pub(crate) fn shown_command(command: &str, args: &[String]) -> String {
    let mut shown = quoted(command);
    let mut last_named_a_secret = false;
    for arg in args {
        let is_flag = arg.starts_with('-');
        let text = if last_named_a_secret && !is_flag { COVER.to_owned() } else { shown_argument(arg) };
        shown.push(' ');
        shown.push_str(&quoted(&text));
        last_named_a_secret = is_flag && !arg.contains('=') && names_a_secret(arg);
    }
    shown
}

/// `--api-key=…`, `TOKEN=…`, `Authorization: …`, and texts that give themselves away.
fn shown_argument(arg: &str) -> String {
    if value_looks_secret(arg) {
        return COVER.to_owned();
    }
    for separator in ["=", ": "] {
        if let Some((name, _)) = arg.split_once(separator)
            && names_a_secret(name)
        {
            return format!("{name}{separator}{COVER}");
        }
    }
    arg.to_owned()
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,~*…".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// An address without name, password and query.
pub(crate) fn shown_url(url: &str) -> String {
    let Ok(uri) = url.parse::<Uri>() else { return "(not a URL)".to_owned() };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return "(not a URL)".to_owned();
    };
    let host = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
    let query = if uri.query().is_some() { "?…" } else { "" };
    format!("{scheme}://{host}{}{query}", uri.path())
}
