//! `mcpServers.*`: the keys of one server.

use crate::limits::{
    CALL_TIMEOUT_MS_DEFAULT, CONNECT_TIMEOUT_MS_DEFAULT, RUNNING_CALLS_COUNT, RUNNING_CALLS_MAX, TIME_LIMIT_MS_MAX,
};
use crate::settings::keys::key::{Key, Merge, Preset, Shape};
use crate::settings::keys::words::{AUTH_PROVIDERS, GRANT_TYPES, ON_BUSY, START_MODES, TRANSPORT_TYPES, only_words};

const TIME_LIMIT: Shape = Shape::milliseconds(TIME_LIMIT_MS_MAX);

/// The keys of one server.
pub(crate) const SERVER: &[Key] = &[
    field("command", Shape::Text, "The program to start. The server speaks over its stdin and stdout."),
    field("args", Shape::List, "The arguments of `command`."),
    field(
        "env",
        Shape::Map,
        "Variables for `command`, beside the few it gets anyway. An explicit entry is never held back.",
    ),
    field(
        "inheritEnv",
        Shape::ListOrAll,
        "Variables of your environment that `command` gets too, secret or not: names, patterns with `*`, or `true` for all. `blocked` wins. Counts only in your own settings and the administrator's.",
    )
    .preset(Preset::InWords("none")),
    field("cwd", Shape::Text, "The folder `command` runs in. A relative path starts at the workspace folder.")
        .preset(Preset::InWords("the workspace folder")),
    field(
        "url",
        Shape::Text,
        "The address of a remote server: streamable HTTP, or HTTP+SSE when it does not speak that. Beats `command`.",
    ),
    field("httpUrl", Shape::Text, "The old way to write a `url` with `\"type\": \"http\"`. Beats `url`."),
    field("headers", Shape::Map, "HTTP headers that are sent with every request to `url`."),
    field(
        "headersHelper",
        Shape::Text,
        "A command that prints more headers for `url` as a JSON object. Run at the start and when the server refuses them. Not for folders.",
    ),
    field(
        "type",
        Shape::Word(&only_words(&TRANSPORT_TYPES)),
        "How `url` is spoken to, instead of finding out. `stdio` says nothing that `command` does not.",
    ),
    field("tcp", Shape::Text, "Known to other clients. Nothing connects that way.").accepted(),
    field("builtin", Shape::Text, "A server inside toolgate: `workspace`."),
    field(
        "timeout",
        TIME_LIMIT,
        "How long a call may take. Each progress message of the server restarts it. If it is larger than the default of `connectTimeout`, it also limits connecting, unless `connectTimeout` is set.",
    )
    .preset(Preset::Number(CALL_TIMEOUT_MS_DEFAULT)),
    field("connectTimeout", TIME_LIMIT, "How long connecting may take. If it is not set, a starting program that writes to stderr, such as a first `npx` download, has as long as `timeout`. It is given up after 30 s of silence.")
        .preset(Preset::Number(CONNECT_TIMEOUT_MS_DEFAULT)),
    field("maxDuration", TIME_LIMIT, "How long a call may take in all, whatever the server says meanwhile.")
        .preset(Preset::InWords("no limit")),
    field(
        "maxConcurrency",
        Shape::within(1, RUNNING_CALLS_MAX as u64, "calls"),
        "How many calls run on the server at once.",
    )
    .preset(Preset::Number(RUNNING_CALLS_COUNT as u64)),
    field("onBusy", Shape::Word(&only_words(&ON_BUSY)), "What happens to a call beyond `maxConcurrency`.")
        .preset(Preset::Word("queue")),
    field(
        "start",
        Shape::Word(&only_words(&START_MODES)),
        "When the server is connected to: with the session, when it is needed, or as it fits best.",
    )
    .preset(Preset::Word("auto")),
    field("trust", Shape::Truth, "Lets all tools of the server run without asking. A folder has no say in it.")
        .preset(Preset::Truth(false)),
    field("description", Shape::Text, "What the server is good for, for people."),
    field(
        "includeTools",
        Shape::ListOrOne,
        "Only these tools: names, `*` for anything, or `tool(argument)`. An empty list shows none.",
    )
    .preset(Preset::InWords("all")),
    field("excludeTools", Shape::ListOrOne, "Not these tools, written the same way. Wins over `includeTools`.")
        .preset(Preset::InWords("none")),
    Key::section("oauth", OAUTH, "How to log in to `url`.").merged(Merge::WithEntry),
    field("authProviderType", Shape::Word(&only_words(&AUTH_PROVIDERS)), "Where the credentials for `url` come from.")
        .preset(Preset::Word("dynamic_discovery")),
    field("targetAudience", Shape::Text, "For impersonation: the client id that the token is made for."),
    field("targetServiceAccount", Shape::Text, "For impersonation: the account that is acted for."),
];

/// The keys of `oauth`.
const OAUTH: &[Key] = &[
    field("enabled", Shape::Truth, "`false`: no login begins by itself when the server asks for one."),
    field("grantType", Shape::Word(&only_words(&GRANT_TYPES)), "How a token is got: by a person or by a machine.")
        .preset(Preset::Word("authorization_code")),
    field("clientId", Shape::Text, "The client that was registered by hand. Without it one is registered."),
    field("clientSecret", Shape::Text, "Its secret; better a reference such as `${keychain:NAME}`."),
    field("privateKey", Shape::Text, "Its private key (PEM), instead of a secret; best as `${file:PATH}`."),
    field("signingAlgorithm", Shape::Text, "What `privateKey` signs with, such as `ES256`.")
        .preset(Preset::InWords("as it fits the key")),
    field("tokenEndpointAuthMethod", Shape::Text, "How the client shows who it is, such as `client_secret_post`.")
        .preset(Preset::InWords("as the authorization server wants it")),
    field(
        "clientMetadataUrl",
        Shape::Text,
        "Where a document about this client is published; it is the client's id then.",
    ),
    field("authorizationUrl", Shape::Text, "Where the person logs in. Without it the server is asked."),
    field("tokenUrl", Shape::Text, "Where tokens are fetched."),
    field("issuer", Shape::Text, "The authorization server that must answer."),
    field("registrationUrl", Shape::Text, "Where a client is registered."),
    field("scopes", Shape::ListOrOne, "What is asked for, when the server does not say."),
    field("audiences", Shape::ListOrOne, "Who the token is for."),
    field("redirectUri", Shape::Text, "Where the browser comes back to. Its port and path are listened on."),
    field(
        "assertion",
        Shape::Text,
        "For machines: the signed statement that is exchanged for a token; best as `${file:PATH}`.",
    ),
    field("idpTokenUrl", Shape::Text, "For `enterprise`: where the identity provider exchanges `assertion`."),
    field("idpClientId", Shape::Text, "For `enterprise`: the client at the identity provider."),
    field("idpClientSecret", Shape::Text, "For `enterprise`: its secret there."),
    field("tokenParamName", Shape::Text, "Known to other clients. No token is sent in an address.").accepted(),
];

/// A field of an entry, which counts whole or not at all.
const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key::new(name, shape, doc).merged(Merge::WithEntry)
}
