//! From what was typed to the entry of a server: each word checked, nothing ignored, placeholders as they are.

use toolgate::ServerName;
use toolgate::servers::reference_scope::may_refer;
use toolgate::servers::{ConfigText, HeaderCheck, check_header, check_url};
use toolgate::settings::SettingsSource;
use toolgate::settings::edit::Json;

use crate::commands::mcp::add::plain_secrets::{self, has_placeholder};
use crate::commands::mcp::add::{Arguments, Transport};
use crate::error::{CommandError, Result};

/// An entry to be written.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What the server is, field by field.
    pub(crate) value: Json,
    /// How it is spoken to.
    pub(crate) transport: Transport,
    /// The places of secrets that stand in it.
    pub(crate) plain_secrets: Vec<String>,
}

/// Checks a name for a new server.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let refused = |message: String| {
        CommandError::usage(message).hint("names have letters, digits, `-`, `_` and `.`, such as `github`")
    };
    ServerName::new(name).map_err(|error| refused(error.to_string()))?;
    if let Some(letter) = name.chars().find(|letter| !letter.is_alphanumeric() && !matches!(letter, '-' | '_' | '.')) {
        return Err(refused(format!("the name of a server cannot have `{letter}` in it")));
    }
    if name.starts_with('-') {
        return Err(refused("the name of a server cannot start with `-`".to_owned()));
    }
    Ok(())
}

/// Refuses references to secrets that would not be followed from there.
pub(crate) fn check_references(entry: &Entry, source: SettingsSource) -> Result<()> {
    let mut texts = Vec::new();
    collect(&entry.value, &mut texts);
    let written: Vec<ConfigText> = texts.into_iter().map(ConfigText::as_written).collect();
    match written.iter().flat_map(ConfigText::references).find(|reference| !may_refer(source, reference.kind)) {
        None => Ok(()),
        Some(reference) => {
            let message = format!("`{reference}` counts only in your own settings, not in those of a folder");
            Err(CommandError::usage(message)
                .hint("add the server with `-s user`, or refer to a variable: `${env:NAME}`"))
        }
    }
}

fn collect<'j>(value: &'j Json, texts: &mut Vec<&'j str>) {
    match value {
        Json::Text(text) => texts.push(text),
        Json::List(list) => list.iter().for_each(|one| collect(one, texts)),
        Json::Object(members) => members.iter().for_each(|(_, one)| collect(one, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => (),
    }
}

impl Entry {
    /// Checks everything that was typed.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self> {
        let target = arguments.target.trim();
        let looks_remote = is_address(target);
        let transport = arguments.transport.unwrap_or(if looks_remote { Transport::Http } else { Transport::Stdio });
        let env = pairs(&arguments.env, "-e", '=', "KEY=value")?;
        let headers = pairs(&arguments.headers, "-H", ':', "Name: value")?;
        let mut fields = match transport {
            Transport::Stdio if looks_remote => {
                let error = CommandError::usage("an address cannot be started as a program");
                return Err(error.hint("leave `--transport stdio` out, or write `--transport http`"));
            }
            Transport::Stdio => stdio(arguments, &env)?,
            Transport::Http | Transport::Sse => remote(arguments, transport, &headers)?,
        };
        fields.extend(common(arguments));
        let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Ok(Self {
            value: Json::Object(fields),
            transport,
            plain_secrets: plain_secrets::find(arguments, &env, &headers),
        })
    }
}

type Fields = Vec<(&'static str, Json)>;

/// `http://…` and `https://…`, in any letter case.
fn is_address(target: &str) -> bool {
    let scheme = target.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| matches!(scheme.as_str(), "http" | "https"))
}

fn stdio(arguments: &Arguments, env: &[(String, String)]) -> Result<Fields> {
    if arguments.target.trim().is_empty() {
        return Err(CommandError::usage("the command is empty").hint("name a program to start, or an address"));
    }
    refuse("a program that is started has no headers", "-H", !arguments.headers.is_empty())?;
    refuse("a program that is started has no OAuth login", "--oauth-…", has_oauth(arguments))?;
    let texts = arguments.args.iter().chain(env.iter().map(|(_, value)| value)).chain(&arguments.cwd);
    if std::iter::once(&arguments.target).chain(texts).any(|text| text.contains('\0')) {
        return Err(CommandError::usage("no program can be given a NUL character"));
    }
    let mut fields = vec![("command", Json::text(&arguments.target))];
    if !arguments.args.is_empty() {
        fields.push(("args", Json::texts(&arguments.args)));
    }
    if !env.is_empty() {
        fields.push(("env", object(env)));
    }
    fields.extend(arguments.cwd.as_ref().map(|cwd| ("cwd", Json::text(cwd))));
    Ok(fields)
}

fn remote(arguments: &Arguments, transport: Transport, headers: &[(String, String)]) -> Result<Fields> {
    let url = arguments.target.trim();
    // One that is filled in later is checked then.
    if !has_placeholder(url) {
        check_url(url).map_err(|refusal| CommandError::usage(refusal.message).hint(refusal.hint))?;
    }
    refuse("a remote server gets no environment variables", "-e", !arguments.env.is_empty())?;
    refuse("a remote server runs in no folder of yours", "--cwd", arguments.cwd.is_some())?;
    if !arguments.args.is_empty() {
        let error = CommandError::usage("a remote server takes no arguments");
        return Err(error.hint("leave out what stands behind the address; headers are given with `-H`"));
    }
    for (name, value) in headers {
        match check_header(name, value) {
            HeaderCheck::Send => (),
            HeaderCheck::LeaveOut => {
                return Err(
                    CommandError::usage(format!("the header `{name}` belongs to HTTP itself")).hint("leave it out")
                );
            }
            HeaderCheck::Refuse(refusal) => {
                return Err(CommandError::usage(format!("-H: {}", refusal.message)).hint(refusal.hint));
            }
        }
    }
    let mut fields = vec![("url", Json::text(url)), ("type", Json::text(transport.as_str()))];
    if !headers.is_empty() {
        fields.push(("headers", object(headers)));
    }
    Ok(fields)
}

/// What every kind of server can have.
fn common(arguments: &Arguments) -> Fields {
    let mut fields = Fields::new();
    fields.extend(arguments.timeout.map(|timeout| ("timeout", Json::from(timeout))));
    fields.extend(arguments.connect_timeout.map(|timeout| ("connectTimeout", Json::from(timeout))));
    fields.extend(arguments.max_concurrency.map(|count| ("maxConcurrency", Json::from(count))));
    fields.extend(arguments.trust.then_some(("trust", Json::Bool(true))));
    fields.extend(arguments.description.as_ref().map(|description| ("description", Json::text(description))));
    for (key, lists) in [("includeTools", &arguments.include_tools), ("excludeTools", &arguments.exclude_tools)] {
        if !lists.is_empty() {
            fields.push((key, Json::texts(lists.iter().flat_map(|list| entries(list)))));
        }
    }
    if has_oauth(arguments) {
        let mut oauth = vec![("enabled".to_owned(), Json::Bool(true))];
        let texts = [("clientId", &arguments.oauth_client_id), ("clientSecret", &arguments.oauth_client_secret)];
        oauth.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Json::text(text.as_ref()?)))));
        if !arguments.oauth_scopes.is_empty() {
            oauth
                .push(("scopes".to_owned(), Json::texts(arguments.oauth_scopes.iter().flat_map(|list| entries(list)))));
        }
        fields.push(("oauth", Json::Object(oauth)));
    }
    fields
}

const fn has_oauth(arguments: &Arguments) -> bool {
    arguments.oauth_client_id.is_some() || arguments.oauth_client_secret.is_some() || !arguments.oauth_scopes.is_empty()
}

fn refuse(message: &str, option: &str, is_given: bool) -> Result<()> {
    if is_given { Err(CommandError::usage(message).hint(format!("leave `{option}` out"))) } else { Ok(()) }
}

/// Names and values, split at the first mark. What stands behind it may be empty, what stands before it may not. A name that comes twice
/// has the value it came with last.
fn pairs(typed: &[String], option: &str, mark: char, form: &str) -> Result<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for one in typed {
        let Some((name, value)) = one.split_once(mark).filter(|(name, _)| !name.trim().is_empty()) else {
            let error = CommandError::usage(format!("{option}: expected `{form}`"));
            return Err(error.hint(format!("the value stands behind the first `{mark}`")));
        };
        let value = if mark == ':' { value.trim() } else { value };
        let name = name.trim().to_owned();
        if name.contains('\0') {
            return Err(CommandError::usage(format!("{option}: a name has no NUL character")));
        }
        pairs.retain(|(other, _)| *other != name);
        pairs.push((name, value.to_owned()));
    }
    Ok(pairs)
}

fn object(pairs: &[(String, String)]) -> Json {
    Json::Object(pairs.iter().map(|(name, value)| (name.clone(), Json::text(value))).collect())
}

/// The entries of a list with commas between them; those inside of brackets belong to an entry, as in `run(a,b)`.
fn entries(list: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut depth = 0_usize;
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                entries.push(String::new());
                continue;
            }
            _ => (),
        }
        entries.last_mut().into_iter().for_each(|entry| entry.push(letter));
    }
    entries.iter().map(|entry| entry.trim().to_owned()).filter(|entry| !entry.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn lists_are_split_at_commas_outside_of_brackets() {
        let cases: [(&str, &[&str]); 5] = [
            ("a,b", &["a", "b"]),
            (" a , ,b,", &["a", "b"]),
            ("run(rm -rf, x),b", &["run(rm -rf, x)", "b"]),
            ("a),b", &["a)", "b"]),
            ("", &[]),
        ];
        for (list, expected) in cases {
            assert_eq!(entries(list), expected, "{list}");
        }
    }
}
