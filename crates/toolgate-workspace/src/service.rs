//! `Workspace`: the server as a service of the wire, which makes it speak every version over every transport.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate_wire::server::{About, Interruption, Reply, RequestContext, Service};
use toolgate_wire::{RawJson, RpcError};

use crate::answer::Answer;
use crate::confine::Folders;
use crate::error::{Result, shown};
use crate::tools::{self, Room};

/// The name of the server, as it says it itself.
const NAME: &str = "toolgate-workspace";

/// What a workspace is handed from its surroundings; it looks at none of them itself.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct WorkspaceOptions {
    /// The whole environment of shell commands: nothing else is passed on. Values may be secret and are never printed.
    pub shell_env: Vec<(OsString, OsString)>,
    /// Further folders beside the workspace. Relative paths do not start there.
    pub included: Vec<PathBuf>,
    /// Folders whose files are neither read nor written, wherever they are in the others.
    pub closed: Vec<PathBuf>,
}

impl WorkspaceOptions {
    /// An empty environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these variables for shell commands.
    #[must_use]
    pub fn shell_env(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.shell_env = variables.into_iter().collect();
        self
    }

    /// With these folders beside the workspace. One that is in it, or in another one, adds nothing.
    #[must_use]
    pub fn included(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.included = folders.into_iter().collect();
        self
    }

    /// With these folders closed to the tools on files. One that is the workspace, or above it, is open.
    #[must_use]
    pub fn closed(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.closed = folders.into_iter().collect();
        self
    }
}

impl fmt::Debug for WorkspaceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.shell_env.iter().map(|(name, _)| name).collect();
        f.debug_struct("WorkspaceOptions")
            .field("shell_env", &names)
            .field("included", &self.included)
            .field("closed", &self.closed)
            .finish()
    }
}

/// The built-in server for a folder and those beside it. Cheap to clone; all clones are one.
///
/// Serve it with [`Server`](toolgate_wire::server::Server): over an in-process pair, over stdin and stdout, or over HTTP.
#[derive(Clone)]
pub struct Workspace {
    about: Arc<About>,
    room: Arc<Room>,
}

impl Workspace {
    /// Opens the folders and nothing else: no file in them is looked at before a tool is called.
    pub fn open(root: &Path, options: WorkspaceOptions) -> Result<Self> {
        let folders = Folders::open(root, &options.included, &options.closed)?;
        let about = About::with_info(info(), capabilities()).instructions(instructions(&folders));
        let room = Room::new(folders, options.shell_env);
        Ok(Self { about: Arc::new(about), room: Arc::new(room) })
    }

    /// The folder, absolute and without links.
    pub fn root(&self) -> &Path {
        self.room.folders.root()
    }
}

/// What a workspace says about itself, and its tools, for somebody who has no connection to it.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// Its name and version.
    pub info: RawJson,
    /// What it can do.
    pub capabilities: RawJson,
    /// How it wants to be used.
    pub instructions: String,
    /// Its tools, as it lists them.
    pub tools: Vec<RawJson>,
}

impl Introduction {
    /// Of the one for these folders.
    pub fn of(root: &Path, included: &[PathBuf]) -> Result<Self> {
        let folders = Folders::open(root, included, &[])?;
        let tools = tools::OFFERS.iter().filter_map(|offer| RawJson::from_bytes(one_line(offer)).ok()).collect();
        Ok(Self { info: info(), capabilities: capabilities(), instructions: instructions(&folders), tools })
    }
}

fn info() -> RawJson {
    json!({"name": NAME, "version": env!("CARGO_PKG_VERSION")}).into()
}

fn capabilities() -> RawJson {
    json!({"tools": {}}).into()
}

fn instructions(folders: &Folders) -> String {
    let main = shown(&folders.root().to_string_lossy());
    let included: Vec<_> = folders.included().map(|folder| format!("`{}`", shown(&folder.to_string_lossy()))).collect();
    let (beside, paths) = match included.as_slice() {
        [] => (String::new(), "relative to it or absolute inside it; nothing outside it is"),
        folders => (
            format!(" and of the included {}", folders.join(", ")),
            "relative to the first one or absolute inside any of them; nothing outside them is",
        ),
    };
    format!(
        "Files, search and shell of the folder `{main}`{beside}. Paths are {paths} read or written by the file tools. Look with `glob` and `search_file_content`, read with `read_file`, change with `replace`."
    )
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Service for Workspace {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let room = self.room.clone();
        Box::pin(async move {
            match cx.method() {
                "tools/list" => Ok(Reply::Complete(offers()?)),
                "tools/call" => call(&room, &cx).await,
                method => Err(RpcError::method_not_found(method).into()),
            }
        })
    }
}

async fn call(room: &Arc<Room>, cx: &RequestContext) -> Result<Reply, Interruption> {
    let name = cx.params().member("name").and_then(|name| name.read::<String>().ok());
    let name =
        name.ok_or_else(|| RpcError::invalid_params("`name` must be the name of a tool, as `tools/list` gives it"))?;
    let Some(outcome) = tools::call(room, &name, &cx.arguments()).await else {
        let what = format!("there is no tool `{}`; `tools/list` names those there are", shown(&name));
        return Err(RpcError::invalid_params(what).into());
    };
    Ok(outcome.unwrap_or_else(Answer::from).into())
}

/// The answer to `tools/list`, put together when it is first asked for.
fn offers() -> Result<RawJson, RpcError> {
    static LIST: OnceLock<Option<RawJson>> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let text = format!("{{\"tools\":[{}]}}", tools::OFFERS.join(","));
        RawJson::from_bytes(one_line(&text)).ok()
    });
    list.clone().ok_or_else(|| RpcError::internal("the list of tools is not JSON"))
}

/// Line breaks are for readers of the source; a message is one line.
fn one_line(offer: &str) -> String {
    offer.replace('\n', "")
}
