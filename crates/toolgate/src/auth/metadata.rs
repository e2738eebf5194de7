//! What servers publish about themselves: where it is looked for, how it is read, and the rules that it must keep to. Pure.
//!
//! [`ProtectedResource`] is what an MCP server says (RFC 9728), [`AuthorizationServer`] what the one says who gives tokens for it (RFC 8414, and
//! OpenID Connect Discovery, which is the same in all that matters here).

use serde_json::{Map, Value};
use url::Url;

use crate::limits::{METADATA_LIST_MAX, METADATA_TEXT_CHARS_MAX};

/// Where an MCP server describes itself, in the order in which it is looked for: what the challenge says, then at its path, then at its root.
pub(crate) fn resource_candidates(challenged: Option<&Url>, server: &Url) -> Vec<Url> {
    let mut found: Vec<Url> = challenged.cloned().into_iter().collect();
    let path = server.path().trim_end_matches('/');
    for path in
        [format!("/.well-known/oauth-protected-resource{path}"), "/.well-known/oauth-protected-resource".to_owned()]
    {
        let url = with_path(server, &path);
        if !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// Where an authorization server describes itself, in the order of the specification (2025-11-25, "Authorization Server Metadata Discovery").
pub(crate) fn server_candidates(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    paths.iter().map(|path| with_path(issuer, path)).collect()
}

/// Where the origin of a server is.
pub(crate) fn origin_of(server: &Url) -> Url {
    with_path(server, "/")
}

/// Another path at the same origin. What else is in the URL, a password perhaps, belongs to the old path.
fn with_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for URLs without a host, which have no password either.
    let _ = (url.set_username(""), url.set_password(None));
    url
}

/// What an MCP server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProtectedResource {
    /// What tokens for it are for.
    pub(crate) resource: Option<String>,
    /// Who gives tokens for it.
    pub(crate) authorization_servers: Vec<String>,
    /// What they can be good for.
    pub(crate) scopes_supported: Vec<String>,
    /// Whether it takes only tokens that are bound to a key.
    pub(crate) dpop_bound_access_tokens_required: bool,
    /// Members that could not be used, in words.
    pub(crate) notes: Vec<String>,
}

/// What an authorization server says about itself. A list that may be absent with a meaning of its own is an `Option`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AuthorizationServer {
    /// Who it is.
    pub(crate) issuer: Option<String>,
    /// Where a person logs in.
    pub(crate) authorization_endpoint: Option<String>,
    /// Where tokens are fetched.
    pub(crate) token_endpoint: Option<String>,
    /// Where a client is registered.
    pub(crate) registration_endpoint: Option<String>,
    /// Where a login on another device begins.
    pub(crate) device_authorization_endpoint: Option<String>,
    /// What tokens can be good for.
    pub(crate) scopes_supported: Vec<String>,
    /// What a login can answer with.
    pub(crate) response_types_supported: Vec<String>,
    /// How tokens are got; absent means with a code (RFC 8414 §2).
    pub(crate) grant_types_supported: Option<Vec<String>>,
    /// How clients show who they are; absent means with `client_secret_basic` (RFC 8414 §2).
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// What clients may sign their statements with.
    pub(crate) token_endpoint_auth_signing_alg_values_supported: Vec<String>,
    /// How codes are bound to whoever asked for them; absent means not at all.
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    /// Whether a client may be the address of a document about it.
    pub(crate) client_id_metadata_document_supported: bool,
    /// Whether the answer to a login says who it is from (RFC 9207).
    pub(crate) authorization_response_iss_parameter_supported: bool,
    /// What keys may sign with that tokens are bound to (RFC 9449 §5.1); none means that they cannot be.
    pub(crate) dpop_signing_alg_values_supported: Vec<String>,
    /// Members that could not be used, in words.
    pub(crate) notes: Vec<String>,
}

impl ProtectedResource {
    /// Reads a document; what is no JSON object is none, and the words say what it is.
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let mut members = Members::read(body)?;
        Ok(Self {
            resource: members.text("resource"),
            authorization_servers: members.list("authorization_servers").unwrap_or_default(),
            scopes_supported: members.list("scopes_supported").unwrap_or_default(),
            dpop_bound_access_tokens_required: members.flag("dpop_bound_access_tokens_required"),
            notes: members.notes,
        })
    }
}

impl AuthorizationServer {
    /// Reads a document; what is no JSON object is none, and the words say what it is.
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let mut members = Members::read(body)?;
        let mut list = |name| members.list(name);
        let scopes_supported = list("scopes_supported").unwrap_or_default();
        let response_types_supported = list("response_types_supported").unwrap_or_default();
        let grant_types_supported = list("grant_types_supported");
        let token_endpoint_auth_methods_supported = list("token_endpoint_auth_methods_supported");
        let signing = list("token_endpoint_auth_signing_alg_values_supported").unwrap_or_default();
        let code_challenge_methods_supported = list("code_challenge_methods_supported");
        let dpop_signing_alg_values_supported = list("dpop_signing_alg_values_supported").unwrap_or_default();
        Ok(Self {
            issuer: members.text("issuer"),
            authorization_endpoint: members.text("authorization_endpoint"),
            token_endpoint: members.text("token_endpoint"),
            registration_endpoint: members.text("registration_endpoint"),
            device_authorization_endpoint: members.text("device_authorization_endpoint"),
            scopes_supported,
            response_types_supported,
            grant_types_supported,
            token_endpoint_auth_methods_supported,
            token_endpoint_auth_signing_alg_values_supported: signing,
            code_challenge_methods_supported,
            client_id_metadata_document_supported: members.flag("client_id_metadata_document_supported"),
            authorization_response_iss_parameter_supported: members
                .flag("authorization_response_iss_parameter_supported"),
            dpop_signing_alg_values_supported,
            notes: members.notes,
        })
    }

    /// The endpoints that 2025-03-26 gives a server without any metadata.
    pub(crate) fn at_origin(server: &Url) -> Self {
        let endpoint = |path: &str| Some(with_path(server, path).to_string());
        Self {
            issuer: Some(server.origin().ascii_serialization()),
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token"),
            registration_endpoint: endpoint("/register"),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            response_types_supported: vec!["code".to_owned()],
            ..Self::default()
        }
    }
}

/// The members of a document. One of a wrong type is as if it were absent, and noted.
struct Members {
    members: Map<String, Value>,
    notes: Vec<String>,
}

impl Members {
    fn read(body: &[u8]) -> Result<Self, String> {
        // Some servers begin their files with a byte order mark, which is no part of JSON.
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self { members, notes: Vec::new() }),
            Ok(_) => Err("it is JSON, and no object".to_owned()),
            Err(_) if std::str::from_utf8(body).is_err() => Err("it is not UTF-8".to_owned()),
            Err(_) if body.is_empty() => Err("it is empty".to_owned()),
            Err(_) => Err("it is not JSON".to_owned()),
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.members.remove(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() => self.without(name, "is empty"),
            Some(Value::String(text)) if text.chars().count() > METADATA_TEXT_CHARS_MAX => {
                self.without(name, "is too long")
            }
            Some(Value::String(text)) => Some(text),
            Some(_) => self.without(name, "is no text"),
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.members.remove(name) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_set)) => is_set,
            Some(_) => self.without(name, "is neither true nor false").unwrap_or(false),
        }
    }

    fn list(&mut self, name: &str) -> Option<Vec<String>> {
        let elements = match self.members.remove(name) {
            None | Some(Value::Null) => return None,
            Some(Value::Array(elements)) => elements,
            Some(_) => return self.without(name, "is no list"),
        };
        let is_usable = |element: &Value| {
            element.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= METADATA_TEXT_CHARS_MAX)
        };
        if elements.len() > METADATA_LIST_MAX {
            self.notes.push(format!("`{name}` has more than {METADATA_LIST_MAX} elements; the others are left out"));
        }
        let first = elements.into_iter().take(METADATA_LIST_MAX);
        let (usable, others): (Vec<Value>, Vec<Value>) = first.partition(is_usable);
        if !others.is_empty() {
            self.notes.push(format!("`{name}` has elements that are no texts; they are left out"));
        }
        Some(
            usable
                .into_iter()
                .filter_map(|element| if let Value::String(text) = element { Some(text) } else { None })
                .collect(),
        )
    }

    fn without<T>(&mut self, name: &str, why: &str) -> Option<T> {
        self.notes.push(format!("`{name}` {why}; it counts as absent"));
        None
    }
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
