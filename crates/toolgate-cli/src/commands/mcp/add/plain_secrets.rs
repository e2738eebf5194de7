//! Values that look like secrets and are about to be written into a file as they are. What is said about them never repeats them.

use toolgate::servers::secret_look::{names_a_secret, value_looks_secret};

use crate::commands::mcp::add::Arguments;

/// What to do instead.
pub(crate) const HINT: &str = "write a reference such as `${env:NAME}` or `${keychain:NAME}` in its place; it is looked up when the server is used";

/// The places in the entry of a server.
pub(crate) fn find(arguments: &Arguments, env: &[(String, String)], headers: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (section, pairs) in [("env", env), ("headers", headers)] {
        let plain =
            pairs.iter().filter(|(name, value)| is_plain(value) && (names_a_secret(name) || value_looks_secret(value)));
        found.extend(plain.map(|(name, _)| format!("{section}.{name}")));
    }
    if is_plain(&arguments.target) && (value_looks_secret(&arguments.target) || has_secret_in_query(&arguments.target))
    {
        found.push("url".to_owned());
    }
    let mut last_named_a_secret = false;
    for (index, arg) in arguments.args.iter().enumerate() {
        let is_flag = arg.starts_with('-');
        if is_plain(arg) && ((last_named_a_secret && !is_flag) || value_looks_secret(arg) || is_named_secret(arg)) {
            found.push(format!("args[{index}]"));
        }
        last_named_a_secret = is_flag && !arg.contains('=') && names_a_secret(arg);
    }
    if arguments.oauth_client_secret.as_deref().is_some_and(is_plain) {
        found.push("oauth.clientSecret".to_owned());
    }
    found
}

/// Whether there is a value, and none that stands for another.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && !has_placeholder(value)
}

/// Whether a part of a text stands for something else: `$NAME` or `${…}`.
pub(crate) fn has_placeholder(text: &str) -> bool {
    let starts =
        |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '{'));
    text.split('$').skip(1).any(starts)
}

/// `--api-key=…`, `TOKEN=…`, `Authorization: …`.
fn is_named_secret(arg: &str) -> bool {
    let named = |separator: &str| {
        arg.split_once(separator).is_some_and(|(name, value)| names_a_secret(name) && !value.is_empty())
    };
    named("=") || named(": ")
}

fn has_secret_in_query(url: &str) -> bool {
    url.contains("://") && url.split_once('?').is_some_and(|(_, query)| query.split('&').any(is_named_secret))
}
