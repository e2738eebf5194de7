//! A server's settings → where the wire finds it: a child to start, a URL to reach, or a server inside this program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};

use toolgate_wire::Endpoint;
use toolgate_wire::server::Server;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::{HttpPool, HttpSettings, ProxySettings};
use toolgate_wire::transport::pair::pair;
use toolgate_workspace::{Workspace, WorkspaceOptions};

use super::child_env::{PassedOn, Receiver};
use super::secrets::{Place, Secrets};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;
use crate::servers::config::BUILT_IN_SERVERS;
use crate::servers::remote::{HeaderCheck, check_header, check_url};
use crate::servers::{HttpConfig, ServerConfig, StdioConfig, TransportConfig};
use crate::settings::EnvExceptions;

/// Opens the way to servers. All of them share one pool of HTTP connections.
#[derive(Debug)]
pub(crate) struct Opener {
    env: Arc<HostEnv>,
    exceptions: EnvExceptions,
    passed_on: PassedOn,
    pool: OnceLock<HttpPool>,
}

impl Opener {
    pub(crate) fn new(env: Arc<HostEnv>, exceptions: &EnvExceptions) -> Self {
        let passed_on = PassedOn::from_host(&env.vars, exceptions, Receiver::Server);
        Self { env, exceptions: exceptions.clone(), passed_on, pool: OnceLock::new() }
    }

    /// Where `server` is, its secrets looked up now. A built-in server is started by this.
    pub(crate) async fn open(&self, server: &ServerConfig) -> Result<Endpoint> {
        let secrets = Secrets::for_start(&self.env, server);
        let endpoint = match &server.transport {
            TransportConfig::Stdio(stdio) => self.child(stdio, secrets).await.map(Endpoint::Child),
            TransportConfig::Http(http) => self.http(http, secrets).await.map(Endpoint::Http),
            TransportConfig::Sse(http) => self.http(http, secrets).await.map(Endpoint::Sse),
            TransportConfig::HttpOrSse(http) => self.http(http, secrets).await.map(Endpoint::Url),
            TransportConfig::BuiltIn(name) => self.built_in(name),
        };
        endpoint.map_err(|error| error.about(&server.name))
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
        child.env = variables(&self.passed_on, configured);
        child.cwd = Some(stdio.cwd.clone().unwrap_or_else(|| self.env.workspace.clone()));
        Ok(child)
    }

    /// What the address and the headers are is known only now, so they are checked again, and not repeated when they do not fit.
    async fn http(&self, http: &HttpConfig, mut secrets: Secrets<'_>) -> Result<HttpEndpoint> {
        let unusable = |what: String| Error::new(ErrorKind::Settings, what);
        let url = secrets.fill(Place::Address, &http.url).await?;
        if check_url(url.expose()).is_err() {
            let what = format!("{}: filled in, this is no address for HTTP", secrets.key(Place::Address));
            return Err(unusable(what).hinting("check what its references and variables stand for"));
        }
        let mut endpoint =
            HttpEndpoint::new(self.pool().clone(), url.expose()).map_err(|error| unusable(error.to_string()))?;
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

    fn pool(&self) -> &HttpPool {
        self.pool.get_or_init(|| {
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
            HttpPool::new(HttpSettings { proxy, ..HttpSettings::default() })
        })
    }

    fn built_in(&self, name: &str) -> Result<Endpoint> {
        if !BUILT_IN_SERVERS.contains(&name) {
            let known = BUILT_IN_SERVERS.join("`, `");
            return Err(Error::new(
                ErrorKind::Settings,
                format!("there is no built-in server `{name}`; there is `{known}`"),
            ));
        }
        let of_shell = PassedOn::from_host(&self.env.vars, &self.exceptions, Receiver::Shell);
        let options = WorkspaceOptions::new().shell_env(variables(&of_shell, BTreeMap::new()));
        let workspace = Workspace::open(&self.env.workspace, options)
            .map_err(|error| Error::new(ErrorKind::Spawn, error.to_string()))?;
        let (ours, theirs) = pair();
        tokio::spawn(async move { Server::new(workspace).serve_pair(theirs).await });
        Ok(Endpoint::Pair(ours))
    }
}

fn variables(passed_on: &PassedOn, configured: BTreeMap<String, Secret>) -> Vec<(OsString, OsString)> {
    let variables = passed_on.for_child(configured).into_iter();
    variables.map(|(name, value)| (name.into(), value.into())).collect()
}
