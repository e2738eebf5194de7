//! A protected MCP server and its authorization server as data. What is not said is right and plain, so that a test says only what it
//! is about. In every text `$ORIGIN`, `$MCP`, `$AS` and `$ISSUER` stand for the addresses that are known once the server runs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::auth_server::answer::{Answer, AnswerAt};
use crate::offer::ToolScript;
use crate::script::Script;

/// Members of a document that are put in place of the usual ones; `None` takes the usual one away.
pub type Members = BTreeMap<String, Option<Value>>;

/// Both servers as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthScript {
    /// The MCP service behind the gate.
    pub server: Script,
    /// What the gate asks for.
    pub protection: Protection,
    /// Who gives what it asks for.
    pub issuer: Issuer,
    /// What is answered at an address in place of what would be right there; the first that fits counts.
    pub answers: Vec<AnswerAt>,
}

/// How the MCP service is protected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protection {
    /// Where the MCP endpoint is.
    pub mcp_path: String,
    /// The `WWW-Authenticate` headers of a refusal; `None` writes one as the specification wants it.
    pub challenges: Option<Vec<String>>,
    /// Where the protected-resource metadata is.
    pub metadata: ResourceMetadata,
    /// Changes to the protected-resource metadata.
    pub metadata_members: Members,
    /// The scopes that every request needs; named in the challenge and in the metadata.
    pub scopes: Vec<String>,
    /// Further scopes by method (`tools/list`) or by tool (`tools/call:echo`).
    pub needs: BTreeMap<String, Vec<String>>,
    /// Methods that need no token.
    pub open_methods: Vec<String>,
    /// Tokens that are taken beside those that were issued.
    pub accepts: Vec<String>,
    /// Whether tokens must be bound to a key.
    pub dpop: Dpop,
}

/// Where protected-resource metadata can be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceMetadata {
    /// Under the well-known name followed by the path of the endpoint.
    #[default]
    AtPath,
    /// Under the well-known name alone.
    AtRoot,
    /// There is none, as before 2025-06-18.
    Nowhere,
}

/// Whether proof of a key is asked for (RFC 9449).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dpop {
    /// It is taken where it is given.
    #[default]
    Accepted,
    /// It is needed.
    Required,
    /// It is needed, with a nonce of the server in it.
    WithNonce,
}

/// How the authorization server behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Issuer {
    /// The path of the issuer, which all its endpoints begin with; empty for none.
    pub path: String,
    /// Whether it has an origin of its own.
    pub own_origin: bool,
    /// Where its metadata is.
    pub metadata: Vec<IssuerMetadata>,
    /// Changes to its metadata.
    pub metadata_members: Members,
    /// How clients are registered.
    pub registration: Registration,
    /// Changes to the answer of a registration.
    pub registration_members: Members,
    /// Whether the address of a document is taken as a client id.
    pub client_documents: bool,
    /// Clients it knows from the start.
    pub clients: Vec<KnownClient>,
    /// How a person decides.
    pub consent: Consent,
    /// Changes to what the browser brings back.
    pub callback: Callback,
    /// Whether clients must use PKCE.
    pub needs_pkce: bool,
    /// Whether clients must say what the token is for, rightly (RFC 8707).
    pub needs_resource: bool,
    /// The scopes it gives, whatever is asked for; `None` gives what is asked for.
    pub grants_scopes: Option<String>,
    /// How long an access token is good, in fact; `None` for ever.
    pub lifetime_ms: Option<u64>,
    /// What refresh tokens are like.
    pub refresh: Refresh,
    /// Refresh tokens that it has given out before it was started.
    pub refresh_tokens: Vec<IssuedBefore>,
    /// Changes to the answers of the token endpoint; `expires_in` among them.
    pub token_members: Members,
    /// How the answers of the token endpoint are written.
    pub token_format: TokenFormat,
    /// How long the token endpoint takes to answer, after it has done its work.
    pub token_delay_ms: u64,
    /// Login on another device.
    pub device: Option<DeviceScript>,
    /// Signed statements that are taken; empty takes any.
    pub assertions: Vec<String>,
    /// Whether tokens must be bound to a key.
    pub dpop: Dpop,
}

/// Where the metadata of an authorization server can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuerMetadata {
    /// `/.well-known/oauth-authorization-server` and the path.
    Oauth,
    /// `/.well-known/openid-configuration` and the path.
    Oidc,
    /// The path and `/.well-known/openid-configuration`.
    OidcBehindPath,
}

/// How clients are registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Without a secret.
    #[default]
    Public,
    /// With a secret for the `Authorization` header.
    SecretBasic,
    /// With a secret for the form.
    SecretPost,
    /// The endpoint refuses.
    Refused,
    /// There is no such endpoint.
    Absent,
}

/// A client that is known from the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnownClient {
    /// Its name.
    pub id: String,
    /// Its secret.
    pub secret: Option<String>,
    /// Where browsers may be sent with it; empty allows every loopback address.
    pub redirect_uris: Vec<String>,
    /// How it has to show who it is, as registries name it; `None` takes every way that fits.
    pub method: Option<String>,
    /// Its public key as a JWK.
    pub key: Option<Value>,
}

/// How a person decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// By having allowed it before.
    #[default]
    AtOnce,
    /// On a page with two buttons.
    Page,
    /// By having denied it.
    Denied,
}

/// Changes to what the browser brings back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Callback {
    /// Where it is sent, in place of where it should be.
    pub to: Option<String>,
    /// Parameters in place of the usual ones; `None` takes the usual one away.
    pub parameters: BTreeMap<String, Option<String>>,
}

/// What refresh tokens are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// Each is good once and answered with the next. Using one twice ends the whole login.
    #[default]
    Rotating,
    /// One for ever, which answers do not repeat.
    Static,
    /// There are none.
    Absent,
}

/// A refresh token from before the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuedBefore {
    /// Whose it is.
    pub client_id: String,
    /// The token.
    pub refresh_token: String,
    /// What it is good for.
    #[serde(default)]
    pub scope: String,
}

/// How an answer of the token endpoint is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenFormat {
    /// As JSON.
    #[default]
    Json,
    /// As a form, as a few old servers do.
    Form,
    /// As JSON that calls itself plain text.
    JsonAsText,
}

/// How a login on another device goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceScript {
    /// The errors that asking for the token gives, one after the other, such as `authorization_pending`. After them it is granted.
    pub polls: Vec<String>,
    /// How many seconds the client is told to wait between them.
    pub interval: u64,
    /// How many seconds the codes are said to live.
    pub expires_in: u64,
}

impl Default for DeviceScript {
    fn default() -> Self {
        Self { polls: vec!["authorization_pending".to_owned()], interval: 1, expires_in: 600 }
    }
}

impl Default for Protection {
    fn default() -> Self {
        Self {
            mcp_path: "/mcp".to_owned(),
            challenges: None,
            metadata: ResourceMetadata::AtPath,
            metadata_members: Members::new(),
            scopes: Vec::new(),
            needs: BTreeMap::new(),
            open_methods: Vec::new(),
            accepts: Vec::new(),
            dpop: Dpop::Accepted,
        }
    }
}

impl Default for Issuer {
    fn default() -> Self {
        Self {
            path: String::new(),
            own_origin: false,
            metadata: vec![IssuerMetadata::Oauth],
            metadata_members: Members::new(),
            registration: Registration::Public,
            registration_members: Members::new(),
            client_documents: false,
            clients: Vec::new(),
            consent: Consent::AtOnce,
            callback: Callback::default(),
            needs_pkce: true,
            needs_resource: false,
            grants_scopes: None,
            lifetime_ms: None,
            refresh: Refresh::Rotating,
            refresh_tokens: Vec::new(),
            token_members: Members::new(),
            token_format: TokenFormat::Json,
            token_delay_ms: 0,
            device: None,
            assertions: Vec::new(),
            dpop: Dpop::Accepted,
        }
    }
}

impl Default for AuthScript {
    fn default() -> Self {
        Self::new()
    }
}

impl AuthScript {
    /// A server with the tool `echo`, protected as the newest specification wants it.
    #[must_use]
    pub fn new() -> Self {
        let server = Script::new("protected").tool(ToolScript::echo("echo"));
        Self::of(server)
    }

    /// The same protection for this service.
    #[must_use]
    pub fn of(server: Script) -> Self {
        Self { server, protection: Protection::default(), issuer: Issuer::default(), answers: Vec::new() }
    }

    /// As 2025-03-26 had it: no metadata about the resource, the authorization server at the same origin.
    #[must_use]
    pub fn without_resource_metadata(self) -> Self {
        self.protection(|protection| {
            protection.metadata = ResourceMetadata::Nowhere;
            protection.challenges = Some(vec!["Bearer".to_owned()]);
        })
    }

    /// Changes how the service is protected.
    #[must_use]
    pub fn protection(mut self, change: impl FnOnce(&mut Protection)) -> Self {
        change(&mut self.protection);
        self
    }

    /// Changes how the authorization server behaves.
    #[must_use]
    pub fn issuer(mut self, change: impl FnOnce(&mut Issuer)) -> Self {
        change(&mut self.issuer);
        self
    }

    /// Adds a client that is known from the start.
    #[must_use]
    pub fn client(self, id: &str, secret: Option<&str>) -> Self {
        let client = KnownClient { id: id.to_owned(), secret: secret.map(str::to_owned), ..KnownClient::default() };
        self.issuer(|issuer| issuer.clients.push(client))
    }

    /// Puts a member of the authorization server's metadata in place of the usual one.
    #[must_use]
    pub fn says(self, member: &str, value: Value) -> Self {
        self.issuer(|issuer| drop(issuer.metadata_members.insert(member.to_owned(), Some(value))))
    }

    /// Leaves a member of the authorization server's metadata out.
    #[must_use]
    pub fn omits(self, member: &str) -> Self {
        self.issuer(|issuer| drop(issuer.metadata_members.insert(member.to_owned(), None)))
    }

    /// Puts a member of every token answer in place of the usual one.
    #[must_use]
    pub fn token_says(self, member: &str, value: Value) -> Self {
        self.issuer(|issuer| drop(issuer.token_members.insert(member.to_owned(), Some(value))))
    }

    /// Leaves a member of every token answer out.
    #[must_use]
    pub fn token_omits(self, member: &str) -> Self {
        self.issuer(|issuer| drop(issuer.token_members.insert(member.to_owned(), None)))
    }

    /// Puts a parameter of the callback in place of the usual one; `None` leaves it out.
    #[must_use]
    pub fn callback(self, parameter: &str, value: Option<&str>) -> Self {
        let value = value.map(str::to_owned);
        self.issuer(|issuer| drop(issuer.callback.parameters.insert(parameter.to_owned(), value)))
    }

    /// Access tokens that are good for so long, and say so in whole seconds.
    #[must_use]
    pub fn lifetime_ms(self, ms: u64) -> Self {
        let script = self.issuer(|issuer| issuer.lifetime_ms = Some(ms));
        script.token_says("expires_in", json!(ms.div_ceil(1000)))
    }

    /// At this path, answers so.
    #[must_use]
    pub fn answer(self, path: &str, answer: Answer) -> Self {
        self.answer_at(AnswerAt::new(path, answer))
    }

    /// The same with more said about when.
    #[must_use]
    pub fn answer_at(mut self, answer: AnswerAt) -> Self {
        self.answers.push(answer);
        self
    }

    /// The script as one line of JSON, as the `auth-server` program takes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_value(self).map(|value| value.to_string()).unwrap_or_default()
    }

    /// Reads what [`AuthScript::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is not such a script.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}
