//! A sealed room: a workspace folder, a folder outside with a secret, and a client that calls the tools over an in-process pair.

use std::ffi::OsString;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_wire::server::Server;
use toolgate_wire::transport::pair::pair;
use toolgate_wire::{
    Call, Client, ClientSide, ConnectOptions, Endpoint, Error, Question, RawJson, RpcError, Version, connect,
};
use toolgate_workspace::{Workspace, WorkspaceOptions};

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What stands in the file outside, and must never stand in an answer.
pub(crate) const SECRET: &str = "TOP-SECRET-CONTENT";

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it should have happened by now")
}

/// Waits until something has become true.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    soon(async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// The folders, the server and its client.
pub(crate) struct Room {
    pub(crate) client: Client,
    home: TempDir,
}

/// A client that can do nothing for the server.
pub(crate) struct Nobody;

impl ClientSide for Nobody {
    fn info(&self) -> RawJson {
        json!({"name": "test", "version": "1"}).into()
    }

    fn capabilities(&self, _: Version) -> RawJson {
        RawJson::EMPTY_OBJECT
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::method_not_found(&question.method))))
    }
}

impl Room {
    /// A workspace with these files; folders are made as needed.
    pub(crate) async fn with(files: &[(&str, &str)]) -> Self {
        Self::including(&[], &[], files).await
    }

    /// A workspace with these files, folders beside it and folders that are closed, by their names beside it.
    pub(crate) async fn including(included: &[&str], closed: &[&str], files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        // Without links, so that answers can be compared with it.
        let path = home.path().canonicalize().unwrap();
        for folder in ["ws", "outside/deep"].iter().chain(included).chain(closed) {
            std::fs::create_dir_all(path.join(folder)).unwrap();
        }
        std::fs::write(path.join("outside/secret.txt"), SECRET).unwrap();
        std::fs::write(path.join("outside/deep/secret.txt"), SECRET).unwrap();
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GREETING", "hello"), ("PWD", "/wrong")];
        let env = env.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let under = |names: &[&str]| names.iter().map(|name| path.join(name)).collect::<Vec<_>>();
        let options = WorkspaceOptions::new().shell_env(env).included(under(included)).closed(under(closed));
        let workspace = Workspace::open(&path.join("ws"), options).unwrap();
        let (ours, theirs) = pair();
        let server = Server::new(workspace);
        tokio::spawn(async move { server.serve_pair(theirs).await });
        let client = soon(connect(Endpoint::Pair(ours), ConnectOptions::new(Arc::new(Nobody)))).await.unwrap();
        let room = Self { client, home };
        for (file, content) in files {
            room.put(file, content.as_bytes());
        }
        room
    }

    /// The workspace folder.
    pub(crate) fn ws(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("ws")
    }

    /// The folder beside it.
    pub(crate) fn outside(&self) -> PathBuf {
        self.ws().with_file_name("outside")
    }

    /// Writes a file of the workspace.
    pub(crate) fn put(&self, file: &str, content: &[u8]) {
        let path = self.ws().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Makes a link in the workspace.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.ws().join(name)).unwrap();
    }

    /// What is in a file of the workspace.
    pub(crate) fn content(&self, file: &str) -> String {
        String::from_utf8(std::fs::read(self.ws().join(file)).unwrap()).unwrap()
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Told {
        self.try_call(tool, arguments).await.unwrap()
    }

    /// Calls a tool, and perhaps is told that there is none.
    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Told, Error> {
        let params = json!({"name": tool, "arguments": arguments});
        let result = soon(self.client.request(Call::new("tools/call", Some(params.into())))).await?;
        Ok(Told(result.read().unwrap()))
    }

    /// Calls a tool that must do its work, and gives its text.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        let told = self.call(tool, arguments).await;
        assert!(!told.is_error(), "{}", told.text());
        told.text()
    }

    /// Calls a tool that must fail, and gives its text.
    pub(crate) async fn failure(&self, tool: &str, arguments: Value) -> String {
        let told = self.call(tool, arguments).await;
        assert!(told.is_error(), "{}", told.text());
        told.text()
    }
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Told(pub(crate) Value);

impl Told {
    pub(crate) fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    pub(crate) fn data(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// The texts of all blocks, a line break between them.
    pub(crate) fn text(&self) -> String {
        let blocks = self.0["content"].as_array().unwrap();
        let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// The paths of a glob, or the names of a folder.
    pub(crate) fn strings(&self, key: &str) -> Vec<String> {
        let list = self.data()[key].as_array().unwrap_or_else(|| panic!("no {key}: {self:?}"));
        list.iter().map(|value| value.as_str().unwrap_or_else(|| value["name"].as_str().unwrap()).to_owned()).collect()
    }
}

/// Checks that every part stands in the text.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}
