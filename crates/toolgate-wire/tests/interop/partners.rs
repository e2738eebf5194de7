//! Starting the partners: where they are installed, how each is started, and ending them again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toolgate_wire::Endpoint;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::HttpPool;

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// Where `interop/install` puts the partners.
fn installed() -> PathBuf {
    let chosen = std::env::vars_os().find(|(name, _)| name == "TOOLGATE_PARTNERS").map(|(_, path)| PathBuf::from(path));
    chosen.unwrap_or_else(|| repository().join("target/partners"))
}

/// A partner program: an interpreter of its own and a script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partner {
    /// The interpreter, below the folder of partners.
    pub(crate) interpreter: &'static str,
    /// The script, below `interop`.
    pub(crate) script: &'static str,
}

pub(crate) const fn python(interpreter: &'static str, script: &'static str) -> Partner {
    Partner { interpreter, script }
}

pub(crate) const fn node(script: &'static str) -> Partner {
    Partner { interpreter: "node/bin/node", script }
}

impl Partner {
    /// The program and its first argument.
    pub(crate) fn command(&self) -> (PathBuf, PathBuf) {
        let interpreter = installed().join(self.interpreter);
        assert!(
            interpreter.exists(),
            "the partner {} is not installed; run `interop/install` first",
            interpreter.display()
        );
        (interpreter, repository().join("interop").join(self.script))
    }
}

/// A way to reach a partner server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Over {
    Stdio,
    /// Streamable HTTP, found by negotiation.
    Http,
    /// HTTP+SSE, named as such.
    Sse,
    /// HTTP+SSE, found by negotiation.
    SseFound,
}

/// A partner server that runs, with the address to reach it.
pub(crate) struct Running {
    pub(crate) endpoint: Option<Endpoint>,
    /// What the server noted about cancelled calls.
    pub(crate) log: PathBuf,
    _listening: Option<Child>,
    _folder: tempfile::TempDir,
}

impl Running {
    pub(crate) async fn start(partner: Partner, over: Over) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the log");
        let log = folder.path().join("log");
        let (program, script) = partner.command();
        let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
        env.push(("PARTNER_LOG".into(), log.clone().into()));
        env.push(("PARTNER_SLOW_SECONDS".into(), "20".into()));
        let how = match over {
            Over::Stdio => {
                let mut config = ChildConfig::new(program);
                config.args = vec![script.into(), "stdio".into()];
                config.env = env;
                return Self { endpoint: Some(Endpoint::Child(config)), log, _listening: None, _folder: folder };
            }
            Over::Http => "http",
            Over::Sse | Over::SseFound => "sse",
        };
        let mut command = Command::new(program);
        command
            .arg(script)
            .args([how, "0"])
            .env_clear()
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("the partner starts");
        let url = listening_at(&mut child).await;
        let endpoint = HttpEndpoint::new(HttpPool::default(), &url).expect("a URL");
        let endpoint = if over == Over::Sse { Endpoint::Sse(endpoint) } else { Endpoint::Url(endpoint) };
        Self { endpoint: Some(endpoint), log, _listening: Some(child), _folder: folder }
    }
}

/// Waits for the line that names the address; goes on reading, so that the partner never blocks.
pub(crate) async fn listening_at(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
    let found = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(url) = line.strip_prefix("listening ") {
                return url.trim().to_owned();
            }
        }
        panic!("the partner ended without listening");
    };
    let url = tokio::time::timeout(Duration::from_secs(60), found).await.expect("the partner listens within a minute");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    url
}
