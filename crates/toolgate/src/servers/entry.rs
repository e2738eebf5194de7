//! One entry of the settings → one server: transport chosen, variables filled in, limits given their defaults. References to secrets are
//! looked at, to see that they may stand where they stand, and never followed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::env::HostEnv;
use crate::limits::{
    CALL_TIMEOUT_MS_DEFAULT, CONNECT_TIMEOUT_MS_DEFAULT, RUNNING_CALLS_COUNT, RUNNING_CALLS_MAX, SECRETS_MAX,
    SERVER_TEXT_BYTES_MAX, TIME_LIMIT_MS_MAX,
};
use crate::servers::config::{
    BUILT_IN_SERVERS, BuiltInConfig, HttpConfig, ServerConfig, ServerName, StartLimit, StdioConfig, TransportConfig,
};
use crate::servers::reference_scope::{OutOfScope, may_refer};
use crate::servers::remote::{HeaderCheck, Refusal, check_written_header, check_written_url};
use crate::servers::text::ConfigText;
use crate::settings::diagnostic::{Diagnostic, Diagnostics, KeyPath, Severity, visible};
use crate::settings::expand::{ExpandError, Expanded, Unset, expand};
use crate::settings::raw::{AuthProviderType, RawList, RawServer, TransportType};
use crate::settings::secret_reference::{SecretKind, SecretReference, has_reference};
use crate::settings::source::SettingsLayer;
use crate::settings::{Located, Position, SettingsSource};

/// Below this a time limit was probably meant in seconds.
const SHORT_MS: f64 = 100.0;

/// Where references can stand that cannot stand everywhere.
pub(crate) const OUT_OF_SCOPE_HINT: &str =
    "it can stand in your own settings and in those of the administrator; here there is `${env:NAME}`";

/// Why an entry is no server. It has been reported; this says it again in one sentence.
#[derive(Debug)]
pub(crate) struct Unusable(pub(crate) String);

/// Where in an entry something stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    Whole,
    Key(&'a str),
    Element(&'a str, usize),
    Member(&'a str, &'a str),
}

/// Works on one entry.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    env: &'a HostEnv,
    pub(super) layer: &'a SettingsLayer,
    pub(super) name: &'a Located<String>,
    found: &'a mut Diagnostics,
    bytes_left: usize,
    references_left: usize,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(
        env: &'a HostEnv,
        layer: &'a SettingsLayer,
        name: &'a Located<String>,
        found: &'a mut Diagnostics,
    ) -> Self {
        Self { env, layer, name, found, bytes_left: SERVER_TEXT_BYTES_MAX, references_left: SECRETS_MAX }
    }

    pub(crate) fn resolve(mut self, raw: &RawServer) -> Result<ServerConfig, Unusable> {
        let name = ServerName::new(&self.name.value)
            .map_err(|error| self.refuse(self.name.at, Field::Whole, &error.to_string(), "give it another name"))?;
        self.refuse_reference(self.name, Field::Whole)?;
        let transport = self.transport(raw)?;
        let texts = |list: &RawList| list.value.iter().map(|entry| entry.value.clone()).collect::<Vec<_>>();
        let default_ms = Some(CALL_TIMEOUT_MS_DEFAULT);
        let call_timeout = self.time_limit("timeout", raw.timeout.as_ref(), default_ms);
        let start_limit = start_limit(raw);
        let default_ms = Some(CONNECT_TIMEOUT_MS_DEFAULT);
        let connect_timeout = self.time_limit("connectTimeout", raw.connect_timeout.as_ref(), default_ms);
        Ok(ServerConfig {
            name,
            transport,
            call_timeout: call_timeout.unwrap_or(Duration::from_millis(CALL_TIMEOUT_MS_DEFAULT)),
            max_duration: self.time_limit("maxDuration", raw.max_duration.as_ref(), None),
            connect_timeout: connect_timeout.unwrap_or(Duration::from_millis(CONNECT_TIMEOUT_MS_DEFAULT)),
            start_limit,
            max_concurrency: self.max_concurrency(raw.max_concurrency.as_ref()),
            on_busy: raw.on_busy.map(|on_busy| on_busy.value).unwrap_or_default(),
            start: raw.start.map(|start| start.value).unwrap_or_default(),
            trust: raw.trust.is_some_and(|trust| trust.value),
            description: raw.description.as_ref().map(|description| description.value.clone()),
            include_tools: raw.include_tools.as_ref().map(texts),
            replaces_own: false,
            exclude_tools: raw.exclude_tools.as_ref().map(texts).unwrap_or_default(),
            strict: None,
            origin: self.layer.origin(self.name.at.line),
            extension: self.layer.extension.clone(),
        })
    }

    /// Reports what the entry would take over from an extension, and the extension may not write.
    pub(crate) fn refuse_borrowed(mut self, borrowed: &OutOfScope) -> Unusable {
        let OutOfScope { key, kind } = borrowed;
        let message = format!("`{key}` of the extension has `${{{}:…}}`, which cannot stand there", kind.as_str());
        self.refuse(self.name.at, Field::Whole, &message, "write that key yourself, in this entry")
    }

    /// The order decides: an address beats a command, and of two addresses `httpUrl` wins.
    fn transport(&mut self, raw: &RawServer) -> Result<TransportConfig, Unusable> {
        let (builtin, command) = (written(raw.builtin.as_ref()), written(raw.command.as_ref()));
        let (url, http_url) = (written(raw.url.as_ref()), written(raw.http_url.as_ref()));
        self.check_credentials(raw, url.or(http_url).is_some())?;
        if let Some(builtin) = builtin {
            self.unused("builtin", &[("httpUrl", http_url), ("url", url), ("command", command)]);
            return self.built_in(builtin);
        }
        if let Some(http_url) = http_url {
            if let Some(url) = url {
                let hint = "keep `url` alone and add \"type\": \"http\"";
                self.warn(url.at, Field::Key("url"), "`httpUrl` (deprecated) used instead of `url`", hint);
            }
            self.unused("httpUrl", &[("command", command)]);
            return Ok(TransportConfig::Http(self.http("httpUrl", http_url, raw)?));
        }
        let transport_type = raw.transport_type;
        if let Some(url) = url {
            self.unused("url", &[("command", command)]);
            let http = self.http("url", url, raw)?;
            return Ok(match transport_type.map(|one| one.value) {
                None => TransportConfig::HttpOrSse(http),
                Some(TransportType::Sse) => TransportConfig::Sse(http),
                Some(TransportType::Http | TransportType::Stdio) => TransportConfig::Http(http),
            });
        }
        let Some(command) = command else {
            let hint = if raw.tcp.is_some() {
                "`tcp` is accepted but cannot be used"
            } else {
                "`command` starts a program, `url` names a remote server"
            };
            return Err(self.refuse(self.name.at, Field::Whole, "set `url` or `command`", hint));
        };
        if let Some(wanted) = transport_type.filter(|one| one.value != TransportType::Stdio) {
            let message = "there is no `url`, so the `command` is started";
            self.warn(wanted.at, Field::Key("type"), message, "set `url`, or remove `type`");
        }
        if let Some(headers) = &raw.headers {
            self.warn(headers.at, Field::Key("headers"), "headers are for a `url`; a command gets none", "use `env`");
        }
        Ok(TransportConfig::Stdio(self.stdio(command, raw)?))
    }

    /// Some credentials are only good for an address.
    fn check_credentials(&mut self, raw: &RawServer, has_url: bool) -> Result<(), Unusable> {
        let needs_url = |provider: &Located<AuthProviderType>| provider.value != AuthProviderType::DynamicDiscovery;
        match raw.auth_provider_type.filter(needs_url) {
            Some(provider) if !has_url => {
                let message = "these credentials are for a server with a `url`";
                Err(self.refuse(provider.at, Field::Key("authProviderType"), message, "set `url`, or remove this key"))
            }
            _ => Ok(()),
        }
    }

    fn unused(&mut self, used: &str, others: &[(&str, Option<&Located<String>>)]) {
        for (key, value) in others {
            if let Some(value) = value {
                let message = format!("not used, because `{used}` is set");
                self.warn(value.at, Field::Key(key), &message, "keep one of the two");
            }
        }
    }

    fn built_in(&mut self, builtin: &Located<String>) -> Result<TransportConfig, Unusable> {
        self.refuse_reference(builtin, Field::Key("builtin"))?;
        if BUILT_IN_SERVERS.contains(&builtin.value.as_str()) {
            let (name, included) = (builtin.value.clone(), self.env.workspace.included().to_vec());
            return Ok(TransportConfig::BuiltIn(BuiltInConfig { name, included }));
        }
        let message = format!("no built-in server is called `{}`", visible(&builtin.value));
        let hint = format!("there is `{}`", BUILT_IN_SERVERS.join("`, `"));
        Err(self.refuse(builtin.at, Field::Key("builtin"), &message, &hint))
    }

    fn stdio(&mut self, command: &Located<String>, raw: &RawServer) -> Result<StdioConfig, Unusable> {
        let command_text = self.plain_text(command, Field::Key("command"))?;
        let command_text = self.without_tilde(command.at, "command", command_text);
        let written_args = raw.args.as_ref().map_or(&[][..], |args| &args.value);
        let mut args = Vec::with_capacity(written_args.len());
        for (index, arg) in written_args.iter().enumerate() {
            args.push(self.process_text(arg, Field::Element("args", index), Unset::Keep)?);
        }
        let mut env = BTreeMap::new();
        for pair in raw.env.iter().flat_map(|env| &env.value) {
            let name = &pair.name.value;
            let field = Field::Member("env", name);
            self.refuse_reference(&pair.name, field)?;
            if name.is_empty() || name.contains(['=', '\0']) {
                let hint = "names of variables are not empty and have no `=`";
                return Err(self.refuse(pair.name.at, field, "not the name of a variable", hint));
            }
            env.insert(name.clone(), self.process_text(&pair.value, field, Unset::Empty)?);
        }
        let cwd = match written(raw.cwd.as_ref()) {
            Some(cwd) => {
                let text = self.plain_text(cwd, Field::Key("cwd"))?;
                let folder = PathBuf::from(self.without_tilde(cwd.at, "cwd", text));
                Some(self.env.workspace.join(folder))
            }
            None => None,
        };
        let inherit_env = self.inherit_env(raw.inherit_env.as_ref());
        Ok(StdioConfig { command: command_text, args, env, inherit_env, cwd })
    }

    /// The variables that the server inherits. Entries of a folder or an extension cannot request the person's variables.
    fn inherit_env(&mut self, written: Option<&RawList>) -> Vec<String> {
        let Some(list) = written else { return Vec::new() };
        if self.layer.is_of_workspace() || self.layer.source == SettingsSource::Extension {
            let message = "ignored here: it counts only in your own settings and the administrator's";
            self.warn(list.at, Field::Key("inheritEnv"), message, "write the entry into your own settings");
            return Vec::new();
        }
        list.value.iter().map(|name| name.value.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    }

    fn http(&mut self, key: &str, url: &Located<String>, raw: &RawServer) -> Result<HttpConfig, Unusable> {
        let text = self.text(url, Field::Key(key), Unset::Keep)?.trimmed();
        if let Err(Refusal { message, hint }) = check_written_url(&text) {
            return Err(self.refuse(url.at, Field::Key(key), &message, hint));
        }
        let mut headers: BTreeMap<String, ConfigText> = BTreeMap::new();
        for pair in raw.headers.iter().flat_map(|headers| &headers.value) {
            let name = &pair.name.value;
            let field = Field::Member("headers", name);
            self.refuse_reference(&pair.name, field)?;
            let value = self.text(&pair.value, field, Unset::Empty)?;
            match check_written_header(name, &value) {
                HeaderCheck::Send => (),
                HeaderCheck::LeaveOut => {
                    self.warn(pair.name.at, field, "left out: this header belongs to HTTP itself", "remove it");
                    continue;
                }
                HeaderCheck::Refuse(Refusal { message, hint }) => {
                    return Err(self.refuse(pair.value.at, field, &message, hint));
                }
            }
            if let Some(twin) = headers.keys().find(|other| other.eq_ignore_ascii_case(name)).cloned() {
                let message = format!("the same header as `{twin}`; this one counts");
                self.warn(pair.name.at, field, &message, "remove one of the two");
                headers.remove(&twin);
            }
            headers.insert(name.clone(), value);
        }
        Ok(HttpConfig { url: text, headers, login: self.login(raw)? })
    }

    /// A text that an operating system takes: it ends at the first NUL, so there must be none.
    fn process_text(
        &mut self,
        written: &Located<String>,
        field: Field<'_>,
        unset: Unset,
    ) -> Result<ConfigText, Unusable> {
        let text = self.text(written, field, unset)?;
        if text.contains('\0') {
            return Err(self.refuse(written.at, field, "the text has a NUL character", "remove the `\\u0000`"));
        }
        Ok(text)
    }

    /// The same where no secret belongs: it decides what is started.
    fn plain_text(&mut self, written: &Located<String>, field: Field<'_>) -> Result<String, Unusable> {
        self.refuse_reference(written, field)?;
        let text = self.process_text(written, field, Unset::Keep)?;
        Ok(text.with_stand_ins(""))
    }

    pub(super) fn refuse_reference(&mut self, written: &Located<String>, field: Field<'_>) -> Result<(), Unusable> {
        if !has_reference(&written.value) {
            return Ok(());
        }
        let message = "a reference to a secret cannot stand here";
        let hint = "references stand in `args`, `url`, the values of `env` and `headers`, and secrets of `oauth`";
        Err(self.refuse(written.at, field, message, hint))
    }

    /// A text with its variables filled in; those that are not set are reported.
    pub(super) fn text(
        &mut self,
        written: &Located<String>,
        field: Field<'_>,
        unset: Unset,
    ) -> Result<ConfigText, Unusable> {
        let Expanded { parts, unset: missing, bytes } =
            match expand(&written.value, &self.env.vars, unset, self.bytes_left) {
                Ok(expanded) => expanded,
                Err(ExpandError::Reference(fault)) => {
                    let (message, hint) = fault.in_words();
                    return Err(self.refuse(written.at, field, &message, hint));
                }
                Err(ExpandError::TooLong) => {
                    let size = SERVER_TEXT_BYTES_MAX >> 20;
                    let message = format!("with this the texts of the server have more than {size} MiB");
                    let hint = "no system takes a command line of that length";
                    return Err(self.refuse(written.at, field, &message, hint));
                }
            };
        self.bytes_left -= bytes;
        for variable in &missing {
            let name = variable.shown().map(visible);
            let subject = name.map_or("what stands after `$`".to_owned(), |name| format!("the variable `{name}`"));
            let rest = match unset {
                Unset::Keep => "the text stays as it is written",
                Unset::Empty => "nothing is put in its place",
            };
            let hint = r"set it, or write `${NAME:-default}`; a dollar sign itself is written `\\$`";
            self.warn(written.at, field, &format!("{subject} is not set; {rest}"), hint);
        }
        let text = ConfigText::new(parts);
        for reference in text.references() {
            self.check_reference(written.at, field, reference)?;
        }
        Ok(text)
    }

    /// Whether a reference may stand in this layer. Whoever wrote a folder or an extension has no business with the secrets of the person.
    fn check_reference(&mut self, at: Position, field: Field<'_>, reference: &SecretReference) -> Result<(), Unusable> {
        if !may_refer(self.layer.source, reference.kind) {
            let of = if self.layer.source == SettingsSource::Extension { "an extension" } else { "a workspace folder" };
            let message = format!("`${{{}:…}}` cannot stand in the settings of {of}", reference.kind.as_str());
            return Err(self.refuse(at, field, &message, OUT_OF_SCOPE_HINT));
        }
        self.references_left = match self.references_left.checked_sub(1) {
            Some(left) => left,
            None => {
                let message = format!("with this the server refers to more than {SECRETS_MAX} secrets");
                return Err(self.refuse(at, field, &message, "start it from a script that finds them itself"));
            }
        };
        if reference.kind == SecretKind::Env && !self.env.vars.contains_key(&reference.target) {
            let name = visible(&reference.target);
            let message = format!("the variable `{name}` is not set; the server cannot be started without it");
            self.warn(at, field, &message, "set it");
        }
        Ok(())
    }

    /// `~` and `~/…` as the home of the person.
    fn without_tilde(&mut self, at: Position, key: &str, text: String) -> String {
        let below = if text == "~" { Some("") } else { text.strip_prefix("~/") };
        match (below, &self.env.dirs.home) {
            (None, _) => text,
            (Some(below), Some(home)) => home.join(below).display().to_string(),
            (Some(_), None) => {
                let message = "`~` has no meaning here: no home folder is known";
                self.warn(at, Field::Key(key), message, "write the whole path");
                text
            }
        }
    }

    /// A time limit that can work. `None` is none.
    fn time_limit(&mut self, key: &str, written: Option<&Located<f64>>, default_ms: Option<u64>) -> Option<Duration> {
        let default = default_ms.map(Duration::from_millis);
        let Some(written) = written else { return default };
        let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
        let field = Field::Key(key);
        if written.value <= 0.0 {
            let instead = default_ms.map_or("no limit is set".to_owned(), |ms| format!("{ms} is used"));
            let message = format!("a time limit is more than 0 milliseconds; {instead}");
            self.warn(written.at, field, &message, "remove it to get the default");
            return default;
        }
        let limit = Duration::try_from_secs_f64(written.value / 1000.0).unwrap_or(Duration::MAX);
        if limit > longest {
            let message = format!("the longest time limit is a week; {TIME_LIMIT_MS_MAX} is used");
            self.warn(written.at, field, &message, "the unit is milliseconds");
        } else if written.value < SHORT_MS {
            let message = format!("{} milliseconds are very short", written.value);
            let hint =
                format!("the unit is milliseconds; {} seconds are written {}", written.value, written.value * 1000.0);
            self.warn(written.at, field, &message, &hint);
        }
        Some(limit.min(longest))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates, as it should"
    )]
    fn max_concurrency(&mut self, written: Option<&Located<f64>>) -> usize {
        let Some(written) = written else { return RUNNING_CALLS_COUNT };
        let field = Field::Key("maxConcurrency");
        if written.value < 1.0 {
            let message = format!("at least one call must be able to run; {RUNNING_CALLS_COUNT} is used");
            self.warn(written.at, field, &message, "remove it to get the default");
            return RUNNING_CALLS_COUNT;
        }
        let count = written.value as usize;
        if count > RUNNING_CALLS_MAX {
            let message = format!("at most {RUNNING_CALLS_MAX} calls run at once; that is used");
            self.warn(written.at, field, &message, "write a smaller number");
        }
        count.min(RUNNING_CALLS_MAX)
    }

    fn warn(&mut self, at: Position, field: Field<'_>, message: &str, hint: &str) {
        self.report(Severity::Warning, at, field, (message, hint));
    }

    /// Reports what makes the entry unusable.
    pub(super) fn refuse(&mut self, at: Position, field: Field<'_>, message: &str, hint: &str) -> Unusable {
        let key = self.report(Severity::Error, at, field, (message, hint));
        Unusable(format!("{key}: {message}"))
    }

    fn report(&mut self, severity: Severity, at: Position, field: Field<'_>, text: (&str, &str)) -> String {
        let top = KeyPath::top("mcpServers");
        let entry = top.key(&self.name.value);
        let key = match field {
            Field::Whole => entry.to_string(),
            Field::Key(key) => entry.key(key).to_string(),
            Field::Element(key, index) => entry.key(key).index(index).to_string(),
            Field::Member(key, member) => entry.key(key).key(member).to_string(),
        };
        let origin = self.layer.origin(at.line);
        let column = origin.line.map(|_| at.column);
        let server = Some(self.name.value.clone());
        let (message, hint) = (text.0.to_owned(), Some(text.1.to_owned()));
        self.found.push(Diagnostic { severity, origin, column, server, key: Some(key.clone()), message, hint });
        key
    }
}

/// The start limits from the valid values of the entry.
fn start_limit(raw: &RawServer) -> StartLimit {
    let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
    let limit = |written: Option<&Located<f64>>| {
        let milliseconds = written.map(|written| written.value).filter(|milliseconds| *milliseconds > 0.0)?;
        Some(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(longest).min(longest))
    };
    StartLimit::of(limit(raw.connect_timeout.as_ref()), limit(raw.timeout.as_ref()))
}

/// A text that says something. An empty one is as good as none.
fn written(text: Option<&Located<String>>) -> Option<&Located<String>> {
    text.filter(|text| !text.value.trim().is_empty())
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
