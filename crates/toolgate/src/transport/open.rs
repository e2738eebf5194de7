//! A server's settings → where the wire finds it: a child to start, a URL to reach, or a server inside this program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};

use http::header::AUTHORIZATION;
use toolgate_wire::Endpoint;
use toolgate_wire::server::Server;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::transport::http_client::{Credentials, HttpEndpoint};
use toolgate_wire::transport::http_pool::{HttpPool, HttpSettings, ProxySettings};
use toolgate_wire::transport::pair::pair;
use toolgate_workspace::{Workspace, WorkspaceOptions};
use url::Url;

use super::child_env::{PassedOn, Receiver, inherited};
use super::header_helper::HeaderHelper;
use super::secrets::{Place, Secrets};
use super::stderr_mask::mask;
use crate::auth::ServerLogin;
use crate::auth::account::{Account, LoginOptions};
use crate::auth::fetch::{Fetcher, Pools};
use crate::auth::google::{self, GoogleCredentials, ImpersonatedCredentials};
use crate::auth::logins::Logins;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;
use crate::servers::config::BUILT_IN_SERVERS;
use crate::servers::remote::{HeaderCheck, check_header, check_url};
use crate::servers::secret_look::{names_a_secret, value_looks_secret};
use crate::servers::{BuiltInConfig, HttpConfig, LoginConfig, ServerConfig, StdioConfig, TransportConfig};
use crate::settings::EnvExceptions;
use crate::settings::raw::AuthProviderType;

/// Opens the way to servers. All of them share one pool of HTTP connections.
#[derive(Debug)]
pub(crate) struct Opener {
    env: Arc<HostEnv>,
    exceptions: EnvExceptions,
    passed_on: PassedOn,
    pools: OnceLock<Pools>,
    logins: Arc<Logins>,
}

/// The way to a server.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it is.
    pub(crate) endpoint: Endpoint,
    /// Who can log in to it, where that is a thing to do.
    pub(crate) login: Option<Arc<ServerLogin>>,
}

impl Opener {
    pub(crate) fn new(env: Arc<HostEnv>, exceptions: &EnvExceptions, logins: Arc<Logins>) -> Self {
        let passed_on = PassedOn::from_host(&env.vars, exceptions, Receiver::Server);
        Self { env, exceptions: exceptions.clone(), passed_on, pools: OnceLock::new(), logins }
    }

    /// Where `server` is, its secrets looked up now. A built-in server is started by this.
    pub(crate) async fn open(&self, server: &ServerConfig) -> Result<Opened> {
        let secrets = Secrets::for_start(&self.env, server);
        let opened = match &server.transport {
            TransportConfig::Stdio(stdio) => {
                let named = |child| ChildConfig { name: Some(server.name.to_string()), ..child };
                self.child(stdio, secrets).await.map(|child| (Endpoint::Child(named(child)), None))
            }
            TransportConfig::Http(http) => self.remote(server, http, secrets, Endpoint::Http).await,
            TransportConfig::Sse(http) => self.remote(server, http, secrets, Endpoint::Sse).await,
            TransportConfig::HttpOrSse(http) => self.remote(server, http, secrets, Endpoint::Url).await,
            TransportConfig::BuiltIn(server) => self.built_in(server).map(|endpoint| (endpoint, None)),
        };
        opened.map(|(endpoint, login)| Opened { endpoint, login }).map_err(|error| error.about(&server.name))
    }

    /// Who can log in to `server`.
    ///
    /// # Errors
    /// When nobody can: it is no remote server, or the settings say who we are to it.
    pub(crate) async fn login(&self, server: &ServerConfig) -> Result<Arc<ServerLogin>> {
        let opened = match &server.transport {
            TransportConfig::Http(_) | TransportConfig::Sse(_) | TransportConfig::HttpOrSse(_) => {
                self.open(server).await?
            }
            TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_) => {
                let what = "only a server with a `url` can be logged in to";
                return Err(Error::new(ErrorKind::Settings, what).about(&server.name));
            }
        };
        opened.login.ok_or_else(|| {
            let what = "the settings say who we are to this server, so there is nothing to log in to";
            let hint = "remove its `Authorization` header, `headersHelper` or `authProviderType` first";
            Error::new(ErrorKind::Settings, what).hinting(hint).about(&server.name)
        })
    }

    async fn remote(
        &self,
        server: &ServerConfig,
        http: &HttpConfig,
        mut secrets: Secrets<'_>,
        kind: impl FnOnce(HttpEndpoint) -> Endpoint,
    ) -> Result<(Endpoint, Option<Arc<ServerLogin>>)> {
        let mut endpoint = self.http(http, &mut secrets).await?;
        if endpoint.headers.contains_key(AUTHORIZATION) {
            return Ok((kind(endpoint), None));
        }
        let (credentials, login) = self.credentials(server, http, &endpoint, &mut secrets).await?;
        endpoint.credentials = Some(credentials);
        Ok((kind(endpoint), login))
    }

    /// Who we are to a remote server.
    async fn credentials(
        &self,
        server: &ServerConfig,
        http: &HttpConfig,
        endpoint: &HttpEndpoint,
        secrets: &mut Secrets<'_>,
    ) -> Result<(Arc<dyn Credentials>, Option<Arc<ServerLogin>>)> {
        let config = http.login.as_deref().cloned().unwrap_or_default();
        if let Some(command) = config.headers_helper {
            return Ok((Arc::new(HeaderHelper::new(self.env.clone(), server.name.clone(), command)), None));
        }
        let account = account(server, &config, endpoint, secrets).await?;
        match config.provider {
            AuthProviderType::DynamicDiscovery => {
                let login = self.logins.of(account, || self.pools().clone());
                Ok((login.clone(), Some(login)))
            }
            AuthProviderType::GoogleCredentials => {
                Ok((Arc::new(GoogleCredentials::new(&self.env, &account, &endpoint.headers)?), None))
            }
            AuthProviderType::ServiceAccountImpersonation => {
                let fetcher = Fetcher::for_server(self.pools().clone(), &account.url).await;
                let (of, to) = (config.target_service_account, config.target_audience);
                let (of, to) = (of.unwrap_or_default(), to.unwrap_or_default());
                let credentials =
                    ImpersonatedCredentials::new(self.env.clone(), Arc::new(fetcher), google::IAM, &of, &to)?;
                Ok((Arc::new(credentials), None))
            }
        }
    }

    async fn child(&self, stdio: &StdioConfig, mut secrets: Secrets<'_>) -> Result<ChildConfig> {
        let mut child = ChildConfig::new(&stdio.command);
        for (index, arg) in stdio.args.iter().enumerate() {
            child.args.push(secrets.fill(Place::Argument(index), arg).await?.into_exposed().into());
        }
        let mut configured = BTreeMap::new();
        for (name, value) in &stdio.env {
            configured.insert(name.clone(), secrets.fill(Place::Variable(name), value).await?);
        }
        let inherited = inherited(&self.env.vars, &self.exceptions, &stdio.inherit_env);
        let looks_secret = |(name, value): &(&String, &String)| {
            names_a_secret(&name.to_ascii_uppercase()) || value_looks_secret(value)
        };
        let of_host = inherited.iter().filter(looks_secret).map(|(_, value)| Secret::new(value.as_str()));
        let given = secrets.followed().chain(configured.values()).cloned().chain(of_host).collect();
        child.mask = Some(mask(given));
        child.env = variables(self.passed_on.for_child(inherited, configured));
        child.cwd = Some(stdio.cwd.clone().unwrap_or_else(|| self.env.workspace.to_path_buf()));
        Ok(child)
    }

    /// What the address and the headers are is known only now, so they are checked again, and not repeated when they do not fit.
    async fn http(&self, http: &HttpConfig, secrets: &mut Secrets<'_>) -> Result<HttpEndpoint> {
        let unusable = |what: String| Error::new(ErrorKind::Settings, what);
        let url = secrets.fill(Place::Address, &http.url).await?;
        if check_url(url.expose()).is_err() {
            let what = format!("{}: filled in, this is no address for HTTP", secrets.key(Place::Address));
            return Err(unusable(what).hinting("check what its references and variables stand for"));
        }
        let mut endpoint = HttpEndpoint::new(self.pools().anywhere.clone(), url.expose())
            .map_err(|error| unusable(error.to_string()))?;
        if http.url.has_references() {
            endpoint.show_as(TransportConfig::Http(http.clone()).target());
        }
        for (name, value) in &http.headers {
            let value = secrets.fill(Place::Header(name), value).await?;
            if check_header(name, value.expose()) != HeaderCheck::Send {
                let what = format!("{}: filled in, this cannot be sent as a header", secrets.key(Place::Header(name)));
                return Err(unusable(what).hinting("a header is one line without control characters"));
            }
            endpoint.add_header(name, value.expose()).map_err(|error| unusable(error.to_string()))?;
        }
        Ok(endpoint)
    }

    fn pools(&self) -> &Pools {
        self.pools.get_or_init(|| {
            // Both spellings are in use; the lower-case one is the older custom and wins.
            let variable = |name: &str| {
                let vars = &self.env.vars;
                vars.get(name).or_else(|| vars.get(&name.to_ascii_uppercase())).cloned().unwrap_or_default()
            };
            let proxy = ProxySettings {
                http: variable("http_proxy"),
                https: variable("https_proxy"),
                no_proxy: variable("no_proxy"),
            };
            let settings = HttpSettings { proxy, ..HttpSettings::default() };
            let public = HttpPool::new(HttpSettings { public_only: true, ..settings.clone() });
            Pools { anywhere: HttpPool::new(settings), public }
        })
    }

    fn built_in(&self, BuiltInConfig { name, included }: &BuiltInConfig) -> Result<Endpoint> {
        if !BUILT_IN_SERVERS.contains(&name.as_str()) {
            let known = BUILT_IN_SERVERS.join("`, `");
            return Err(Error::new(
                ErrorKind::Settings,
                format!("there is no built-in server `{name}`; there is `{known}`"),
            ));
        }
        let of_shell = PassedOn::from_host(&self.env.vars, &self.exceptions, Receiver::Shell);
        let shell_env = variables(of_shell.for_child(BTreeMap::new(), BTreeMap::new()));
        let options = WorkspaceOptions::new().shell_env(shell_env).included(included.iter().cloned());
        let options = options.closed(self.env.own_folder_to_close());
        let workspace = Workspace::open(&self.env.workspace, options)
            .map_err(|error| Error::new(ErrorKind::Spawn, error.to_string()))?;
        let (ours, theirs) = pair();
        tokio::spawn(async move { Server::new(workspace).serve_pair(theirs).await });
        Ok(Endpoint::Pair(ours))
    }
}

/// What a login to a server is about, with the secrets looked up.
async fn account(
    server: &ServerConfig,
    config: &LoginConfig,
    endpoint: &HttpEndpoint,
    secrets: &mut Secrets<'_>,
) -> Result<Account> {
    let mut texts = BTreeMap::new();
    for (key, text) in &config.texts {
        texts.insert(key.as_str(), secrets.fill(Place::Login(key), text).await?);
    }
    let url = Url::parse(&endpoint.url.to_string());
    let url = url.map_err(|error| Error::new(ErrorKind::Settings, format!("the address cannot be used: {error}")))?;
    let mut secret = |key: &str| texts.remove(key);
    let options = LoginOptions {
        enabled: config.enabled,
        grant: config.grant,
        client_secret: secret("clientSecret"),
        private_key: secret("privateKey"),
        assertion: secret("assertion"),
        idp_client_secret: secret("idpClientSecret"),
        ..LoginOptions::default()
    };
    let mut plain = |key: &str| texts.remove(key).map(Secret::into_exposed);
    let options = LoginOptions {
        client_id: plain("clientId"),
        signing_algorithm: plain("signingAlgorithm"),
        client_method: plain("tokenEndpointAuthMethod"),
        client_metadata_url: plain("clientMetadataUrl"),
        authorization_url: plain("authorizationUrl"),
        token_url: plain("tokenUrl"),
        registration_url: plain("registrationUrl"),
        issuer: plain("issuer"),
        redirect_uri: plain("redirectUri"),
        idp_token_url: plain("idpTokenUrl"),
        idp_client_id: plain("idpClientId"),
        scopes: config.scopes.clone(),
        audiences: config.audiences.clone(),
        ..options
    };
    Ok(Account { server: server.name.clone(), url, options })
}

fn variables(variables: BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
    variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}
