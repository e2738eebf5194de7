//! What the tests share: a client side that writes down what it hears, one way to meet a scripted server over every
//! transport, and a census of tasks and descriptors that finds what leaks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::Notify;
use toolgate_testkit::in_process::{self, ServerTask};
use toolgate_testkit::{Event, Record, Script, ScriptedHttp, scripted_server_path};
use toolgate_wire::limits::PROBE_PATIENCE_MS;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::HttpPool;
use toolgate_wire::{
    Call, Client, ClientSide, ConnectOptions, Defect, Endpoint, Error, Notification, Question, RawJson, RpcError,
    Version, connect,
};

/// Long enough for a loaded machine; nothing waits this long when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Ends a test that hangs.
pub(crate) async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("hangs: {what}"),
    }
}

pub(crate) fn raw(value: Value) -> RawJson {
    RawJson::from(value)
}

/// A client side that answers everything and writes down what it hears.
#[derive(Default)]
pub(crate) struct Side {
    heard: Mutex<Heard>,
    news: Notify,
}

#[derive(Default, Clone)]
pub(crate) struct Heard {
    pub(crate) questions: Vec<Question>,
    pub(crate) notifications: Vec<Notification>,
    pub(crate) defects: Vec<Defect>,
    pub(crate) lost: Vec<String>,
    pub(crate) closed: Vec<String>,
}

impl Side {
    pub(crate) fn heard(&self) -> Heard {
        self.heard.lock().unwrap().clone()
    }

    /// The methods of the notifications so far.
    pub(crate) fn notified(&self) -> Vec<String> {
        self.heard().notifications.iter().map(|note| note.method.to_string()).collect()
    }

    /// Waits until what was heard is enough.
    pub(crate) async fn wait_until(&self, what: &str, is_enough: impl Fn(&Heard) -> bool) -> Heard {
        let waiting = async {
            loop {
                let news = self.news.notified();
                let heard = self.heard();
                if is_enough(&heard) {
                    return heard;
                }
                news.await;
            }
        };
        within(what, waiting).await
    }

    fn note(&self, write: impl FnOnce(&mut Heard)) {
        write(&mut self.heard.lock().unwrap());
        self.news.notify_waiters();
    }
}

impl ClientSide for Side {
    fn info(&self) -> RawJson {
        raw(json!({"name": "wire-tests", "version": "1.0.0"}))
    }

    fn capabilities(&self, version: Version) -> RawJson {
        let mut capabilities = json!({"sampling": {}, "roots": {"listChanged": true}});
        if version.has_elicitation() {
            capabilities["elicitation"] = json!({});
        }
        raw(capabilities)
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let answer = match &*question.method {
            "elicitation/create" => json!({"action": "accept", "content": {"name": "Ada"}}),
            "sampling/createMessage" => {
                json!({"role": "assistant", "content": {"type": "text", "text": "forty-two"}, "model": "m", "stopReason": "endTurn"})
            }
            "roots/list" => json!({"roots": [{"uri": "file:///srv", "name": "srv"}]}),
            other => panic!("asked an unexpected question: {other}"),
        };
        self.note(|heard| heard.questions.push(question));
        Box::pin(async move { Ok(raw(answer)) })
    }

    fn notification(&self, notification: Notification) {
        self.note(|heard| heard.notifications.push(notification));
    }

    fn defect(&self, defect: &Defect) {
        self.note(|heard| heard.defects.push(defect.clone()));
    }

    fn lost(&self, why: &Error) {
        self.note(|heard| heard.lost.push(why.to_string()));
    }

    fn closed(&self, why: &Error) {
        self.note(|heard| heard.closed.push(why.to_string()));
    }
}

/// The ways to reach a scripted server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A real process, over its stdin and stdout.
    Child,
    /// A pipe within this process.
    Duplex,
    /// A Unix socket.
    Socket,
    /// Streamable HTTP that answers with JSON where it can.
    HttpJson,
    /// Streamable HTTP that answers with event streams.
    HttpEvents,
    /// The HTTP+SSE of 2024-11-05.
    Sse,
}

/// A scripted server, and what came of connecting to it.
pub(crate) struct Met {
    pub(crate) connected: Result<Client, Error>,
    pub(crate) side: Arc<Side>,
    pub(crate) record: Record,
    pub(crate) server: Running,
}

/// What keeps a scripted server alive.
pub(crate) enum Running {
    Child { _folder: TempDir },
    Duplex,
    Socket { _folder: TempDir, _task: ServerTask },
    Http(ScriptedHttp),
}

impl Met {
    pub(crate) fn client(&self) -> &Client {
        self.connected.as_ref().unwrap_or_else(|error| panic!("not connected: {error}"))
    }

    /// Why connecting failed.
    pub(crate) fn refusal(&self) -> String {
        self.connected.as_ref().map(|client| panic!("connected to {client:?}")).unwrap_err().to_string()
    }

    pub(crate) fn http(&self) -> &ScriptedHttp {
        match &self.server {
            Running::Http(server) => server,
            _ => panic!("not an HTTP server"),
        }
    }
}

impl Way {
    pub(crate) const ALL: [Self; 6] =
        [Self::Child, Self::Duplex, Self::Socket, Self::HttpJson, Self::HttpEvents, Self::Sse];

    /// Starts the script and connects to it.
    pub(crate) async fn meet(self, script: Script) -> Met {
        self.meet_with(script, |_| ()).await
    }

    /// The same with other options.
    pub(crate) async fn meet_with(self, script: Script, adjust: impl FnOnce(&mut ConnectOptions)) -> Met {
        let side = Arc::new(Side::default());
        let mut options = ConnectOptions::new(side.clone());
        adjust(&mut options);
        let (connected, record, server) = match self {
            Self::Child => child(&script, options).await,
            Self::Duplex => {
                let (half, record) = in_process::serve(script);
                let (read, write) = tokio::io::split(half);
                let endpoint = Endpoint::Streams(Box::new(read), Box::new(write));
                (connect(endpoint, options).await, record, Running::Duplex)
            }
            Self::Socket => socket(script, options).await,
            Self::HttpJson => {
                http(script.json_answers(), options, |server| Endpoint::Http(endpoint(&server.url()))).await
            }
            Self::HttpEvents => http(script, options, |server| Endpoint::Http(endpoint(&server.url()))).await,
            Self::Sse => http(script, options, |server| Endpoint::Sse(endpoint(&server.sse_url()))).await,
        };
        Met { connected, side, record, server }
    }
}

/// An HTTP address with connections of its own.
pub(crate) fn endpoint(url: &str) -> HttpEndpoint {
    HttpEndpoint::new(HttpPool::default(), url).unwrap()
}

/// How to start the scripted server as a process that logs into `log`.
pub(crate) fn child_config(script: &Script, log: &Path) -> ChildConfig {
    let mut config = ChildConfig::new(scripted_server_path().unwrap());
    config.args = ["--script".into(), script.to_json().into(), "--log".into(), log.into()].into();
    config.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    config
}

/// A folder for a server's log, and the log's path.
pub(crate) fn log_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    (folder, log)
}

type Outcome = (Result<Client, Error>, Record, Running);

async fn child(script: &Script, options: ConnectOptions) -> Outcome {
    let (folder, log) = log_folder();
    let connected = connect(Endpoint::Child(child_config(script, &log)), options).await;
    (connected, Record::of_log(&log), Running::Child { _folder: folder })
}

async fn socket(script: Script, options: ConnectOptions) -> Outcome {
    let (folder, _) = log_folder();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = tokio::spawn(async move {
        let (read, write) = listener.accept().await.unwrap().0.into_split();
        in_process::over(script, read, write)
    });
    let connected = connect(Endpoint::Socket(path), options).await;
    let (task, record) = serving.await.unwrap();
    (connected, record, Running::Socket { _folder: folder, _task: task })
}

/// Starts a script over HTTP and connects to what `place` names.
pub(crate) async fn http(
    script: Script,
    options: ConnectOptions,
    place: impl FnOnce(&ScriptedHttp) -> Endpoint,
) -> Outcome {
    let server = ScriptedHttp::start(script).await.unwrap();
    let connected = connect(place(&server), options).await;
    (connected, server.record().clone(), Running::Http(server))
}

/// How many tasks and descriptors there are, to be compared later.
pub(crate) struct Census {
    tasks: usize,
    descriptors: Vec<PathBuf>,
}

impl Census {
    pub(crate) fn take() -> Self {
        Self { tasks: tasks(), descriptors: descriptors() }
    }

    /// Waits until everything that came since is gone again.
    pub(crate) async fn expect_no_more(&self, what: &str) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while tasks() > self.tasks || descriptors().len() > self.descriptors.len() {
            if tokio::time::Instant::now() > deadline {
                let now = descriptors();
                panic!(
                    "leaks after {what}: tasks {} -> {}, descriptors {:?} -> {now:?}",
                    self.tasks,
                    tasks(),
                    self.descriptors
                );
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

fn descriptors() -> Vec<PathBuf> {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let all: Vec<PathBuf> = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).collect();
    // A process holds both ends of one pipe, the one to its watchdog, from its first server on.
    let is_of_watchdog = |one: &&PathBuf| {
        one.to_string_lossy().starts_with("pipe:") && all.iter().filter(|other| other == one).count() > 1
    };
    all.iter().filter(|one| !is_of_watchdog(one)).cloned().collect()
}

/// Whether a process still runs (a zombie does not).
pub(crate) fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits until a process is gone.
pub(crate) async fn expect_gone(pid: u32) {
    let gone = async {
        while is_alive(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(&format!("process {pid} to end"), gone).await;
}

/// How long things may take in a row of a fault matrix: short where it is expected that time runs out, generous
/// everywhere else, so that a loaded machine does not change what comes of a row.
pub(crate) struct Limits {
    pub(crate) connect: Duration,
    pub(crate) probe_patience: Duration,
    list: Duration,
    call: Duration,
}

impl Limits {
    pub(crate) fn expecting(expected: &[&str]) -> Self {
        let says = |text: &str| expected.iter().any(|part| part.contains(text));
        let timed_out = says("timed out");
        let short = |is_short: bool| if is_short { Duration::from_millis(300) } else { PATIENCE };
        let unanswered = says("did not answer the handshake");
        Self {
            connect: if unanswered { Duration::from_millis(2500) } else { PATIENCE },
            probe_patience: Duration::from_millis(if unanswered { 300 } else { PROBE_PATIENCE_MS }),
            list: short(timed_out && says("list:")),
            call: short(timed_out && says("call:")),
        }
    }
}

/// How far a client came with a server: `ok` and what it said, or the step that failed and why.
pub(crate) async fn journey(met: &Met, limits: &Limits) -> String {
    let client = match &met.connected {
        Ok(client) => client,
        Err(error) => return format!("connect: {error}"),
    };
    let list = client.request(Call::new("tools/list", None).idle_limit(limits.list)).await;
    if let Err(error) = list {
        return format!("list: {error}");
    }
    let call = Call::tool("echo", &raw(json!({"message": "hi"}))).idle_limit(limits.call);
    match client.finish_tool_call(call).await {
        Ok(result) => format!("ok {}", result.text()),
        Err(error) => format!("call: {error}"),
    }
}

/// The processes that a scripted server was, and what they started.
pub(crate) fn pids(record: &Record) -> Vec<u32> {
    let pids = record.events().into_iter().filter_map(|event| match event {
        Event::Started { pid, .. } | Event::Grandchild { pid } => Some(pid),
        _ => None,
    });
    pids.collect()
}
