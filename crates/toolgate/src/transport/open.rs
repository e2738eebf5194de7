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

use super::child_env::PassedOn;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::servers::config::BUILT_IN_SERVERS;
use crate::servers::{HttpConfig, ServerConfig, StdioConfig, TransportConfig};
use crate::settings::EnvExceptions;

/// Opens the way to servers. All of them share one pool of HTTP connections.
#[derive(Debug)]
pub(crate) struct Opener {
    env: Arc<HostEnv>,
    passed_on: PassedOn,
    pool: OnceLock<HttpPool>,
}

impl Opener {
    pub(crate) fn new(env: Arc<HostEnv>, exceptions: &EnvExceptions) -> Self {
        let passed_on = PassedOn::from_host(&env.vars, exceptions);
        Self { env, passed_on, pool: OnceLock::new() }
    }

    /// Where `server` is. A built-in server is started by this.
    pub(crate) fn open(&self, server: &ServerConfig) -> Result<Endpoint> {
        let endpoint = match &server.transport {
            TransportConfig::Stdio(stdio) => Ok(Endpoint::Child(self.child(stdio))),
            TransportConfig::Http(http) => self.http(http).map(Endpoint::Http),
            TransportConfig::Sse(http) => self.http(http).map(Endpoint::Sse),
            TransportConfig::HttpOrSse(http) => self.http(http).map(Endpoint::Url),
            TransportConfig::BuiltIn(name) => self.built_in(name),
        };
        endpoint.map_err(|error| error.about(&server.name))
    }

    fn child(&self, stdio: &StdioConfig) -> ChildConfig {
        let mut child = ChildConfig::new(&stdio.command);
        child.args = stdio.args.iter().map(OsString::from).collect();
        child.env = self.variables(&stdio.env);
        child.cwd = Some(stdio.cwd.clone().unwrap_or_else(|| self.env.workspace.clone()));
        child
    }

    fn variables(&self, configured: &BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
        let variables = self.passed_on.for_child(configured).into_iter();
        variables.map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn http(&self, http: &HttpConfig) -> Result<HttpEndpoint> {
        let unusable = |what: String| Error::new(ErrorKind::Settings, what);
        let mut endpoint =
            HttpEndpoint::new(self.pool().clone(), &http.url).map_err(|error| unusable(error.to_string()))?;
        for (name, value) in &http.headers {
            endpoint.add_header(name, value).map_err(|error| unusable(error.to_string()))?;
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
        let workspace =
            Workspace::open(&self.env.workspace, WorkspaceOptions::new().shell_env(self.variables(&BTreeMap::new())))
                .map_err(|error| Error::new(ErrorKind::Spawn, error.to_string()))?;
        let (ours, theirs) = pair();
        tokio::spawn(async move { Server::new(workspace).serve_pair(theirs).await });
        Ok(Endpoint::Pair(ours))
    }
}
