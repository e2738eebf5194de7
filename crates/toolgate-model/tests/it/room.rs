//! A room with one server full of tools, a model that follows a script, and a conversation between them.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;
use toolgate::policy::file::{self, FileSource};
use toolgate::policy::{Permissions, Policy, Presence, Tier};
use toolgate::results::ResultStore;
use toolgate::settings::ToolSearchSettings;
use toolgate::{CallRules, Host, HostDirs, HostEnv, Secret, Setup, SetupOptions, SystemClock};
use toolgate_model::{Conversation, Model, ModelConfig, Retry, TurnEvent, TurnReport};
use toolgate_testkit::model_server::{SeenRequest, WireFormat};
use toolgate_testkit::{Behaviour, ModelScript, ModelServer, Script, ScriptedHttp, TestWorld, ToolScript};

/// Longer than anything here takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What the server says about the use of its tools.
pub(crate) const INSTRUCTIONS: &str = "Echo before you count.";

/// How long the text of `big` is.
pub(crate) const BIG_BYTES: usize = 200_000;

const RULES: &str = r#"
[[rule]]
toolName = "*"
decision = "allow"
priority = 1

[[rule]]
toolName = "forbidden"
decision = "deny"
priority = 5
argsPattern = "x"
denyMessage = "Ask the owner."

[[rule]]
toolName = "careful"
decision = "ask_user"
priority = 5
"#;

/// Everything of one test.
pub(crate) struct Room {
    pub(crate) tools: ScriptedHttp,
    pub(crate) model: ModelServer,
    pub(crate) host: Host,
    pub(crate) conversation: Conversation,
    heard: Arc<Mutex<Vec<TurnEvent>>>,
    env: HostEnv,
    _world: TestWorld,
}

/// How a room is to be, besides its script.
pub(crate) struct Wishes {
    pub(crate) format: WireFormat,
    /// What the person answers when they are asked; nobody is there, when it is nothing.
    pub(crate) person: Option<Confirmation>,
    pub(crate) max_turns: u32,
    pub(crate) result_chars_max: Option<usize>,
    /// When tools are searched for.
    pub(crate) search: ToolSearchSettings,
    /// What the server offers besides.
    pub(crate) more: fn(Script) -> Script,
}

impl Wishes {
    pub(crate) fn new(format: WireFormat) -> Self {
        let search = ToolSearchSettings::default();
        Self { format, person: None, max_turns: 10, result_chars_max: None, search, more: |script| script }
    }
}

fn tools() -> Script {
    let anything = json!({"type": "object"});
    let taking = |name: &str, behaviour| ToolScript::new(name, behaviour).input_schema(anything.clone());
    let picture = json!({"content": [
        {"type": "text", "text": "look"},
        {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    ]});
    Script::new("tools")
        .instructions(INSTRUCTIONS)
        .tool(ToolScript::echo("echo"))
        .tool(taking("params", Behaviour::Params))
        .tool(taking("fails", Behaviour::tool_error("no such thing")))
        .tool(taking("forbidden", Behaviour::text("never seen")))
        .tool(taking("careful", Behaviour::text("was done")))
        .tool(taking("picture", Behaviour::Reply(picture)))
        .tool(taking("big", Behaviour::Big { bytes: BIG_BYTES }))
        .tool(taking("never", Behaviour::Never))
        .tool(taking("grow", Behaviour::add_tool(ToolScript::text("grown", "it grew"))))
}

/// A person who always answers the same.
struct Answers(Confirmation);

impl Confirmer for Answers {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async { self.0.clone() })
    }
}

/// A person who says yes.
pub(crate) const YES: Confirmation = Confirmation::Proceed(Remember::No);

impl Room {
    pub(crate) async fn new(script: ModelScript, wishes: Wishes) -> Self {
        let world = TestWorld::new().unwrap();
        let tools = ScriptedHttp::start((wishes.more)(tools())).await.unwrap();
        let model = ModelServer::start(script).await.unwrap();
        let env = HostEnv {
            vars: world.variables().clone(),
            dirs: HostDirs {
                user: world.home().join(".toolgate"),
                system: world.root().join("etc"),
                home: Some(world.home()),
            },
            workspace: world.workspace().into(),
            clock: Arc::new(SystemClock),
        };
        let settings = json!({"mcpServers": {"tools": {"httpUrl": tools.url()}}});
        world.write_in_home(".toolgate/settings.json", &settings.to_string()).unwrap();
        let setup = Setup::read(&env, &SetupOptions::default()).unwrap();
        let servers = setup.admitted().unwrap().only(|server| server.name.as_str() == "tools");
        let host = Host::builder(env.clone()).call_rules(rules(&env, wishes.person)).build();
        tokio::time::timeout(LONG, host.connect(servers)).await.expect("the server did not settle");
        let config = ModelConfig {
            max_turns: wishes.max_turns,
            result_chars_max: wishes.result_chars_max,
            ..config(wishes.format.model(), &model, wishes.format)
        };
        let model_of_config = Model::new(config, &env).unwrap();
        let conversation =
            Conversation::new(model_of_config).with_context("The folder is /somewhere.").with_search(wishes.search);
        Self { tools, model, host, conversation, heard: Arc::default(), env, _world: world }
    }

    /// Goes on with another model of the same server; how many pictures that one does not take.
    pub(crate) fn go_on_with(&mut self, name: &str, format: WireFormat) -> usize {
        let config = config(name, &self.model, format);
        self.conversation.set_model(Model::new(config, &self.env).unwrap())
    }

    /// Says something, and waits until the model is done with it.
    pub(crate) async fn say(&mut self, text: &str) -> TurnReport {
        self.say_until(text, std::future::pending()).await
    }

    /// The same, until somebody gives it up.
    pub(crate) async fn say_until(&mut self, text: &str, cancel: impl Future<Output = ()> + Send) -> TurnReport {
        let heard = self.heard.clone();
        let events = move |event| heard.lock().unwrap().push(event);
        let turn = self.conversation.turn(&self.host, text.into(), &events, cancel);
        tokio::time::timeout(LONG, turn).await.expect("the turn did not end")
    }

    pub(crate) fn requests(&self) -> Vec<SeenRequest> {
        self.model.record().requests()
    }

    /// What was heard, in short: pieces of text as they are, everything else by its word.
    pub(crate) fn heard(&self) -> Vec<String> {
        let short = |event: &TurnEvent| match event {
            TurnEvent::Asked { number } => format!("asked {number}"),
            TurnEvent::Thinking(text) => format!("({text})"),
            TurnEvent::Text(text) => format!("\"{text}\""),
            TurnEvent::Answered { calls, usage, .. } => {
                format!("answered: {calls} calls, {}+{} tokens", usage.input, usage.output)
            }
            TurnEvent::Retry { attempt, discards, .. } => format!("retry {attempt}, discards: {discards}"),
            TurnEvent::CallAsked(news) => format!("asked for {} {}", news.name, news.explanation()),
            TurnEvent::CallStarted(news) => format!("started {}", news.name),
            TurnEvent::CallEnded(news, ending) => format!("ended {}: {}", news.name, ending.word),
        };
        self.heard.lock().unwrap().iter().map(short).collect()
    }

    /// How calls ended, in their order.
    pub(crate) fn endings(&self) -> Vec<String> {
        self.heard().into_iter().filter_map(|line| line.strip_prefix("ended ").map(ToOwned::to_owned)).collect()
    }

    /// What the server of the tools was called for.
    pub(crate) fn called(&self) -> Vec<String> {
        let received = self.tools.received();
        let calls = received.iter().filter(|message| message["method"] == "tools/call");
        calls.map(|message| message["params"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn config(name: &str, model: &ModelServer, format: WireFormat) -> ModelConfig {
    ModelConfig {
        name: name.to_owned(),
        base_url: Some(format!("{}/", model.base_url(format)).parse().unwrap()),
        key: Secret::new("the-key"),
        max_turns: 5,
        result_chars_max: None,
        retry: Retry { times: 3, first_wait: Duration::from_millis(1) },
    }
}

fn rules(env: &HostEnv, person: Option<Confirmation>) -> CallRules {
    let source = FileSource::new(Tier::User, Path::new("test.toml"));
    let parsed = file::parse(RULES, &source);
    let presence = if person.is_some() { Presence::Interactive } else { Presence::Headless };
    let rules = CallRules {
        permissions: Permissions::new(Policy::new(parsed.rules)),
        results: Some(Arc::new(ResultStore::new(env))),
        presence,
        ..CallRules::default()
    };
    match person {
        Some(answer) => CallRules { confirmer: Arc::new(Answers(answer)), ..rules },
        None => rules,
    }
}

/// Arguments of `echo`.
pub(crate) fn message(text: &str) -> Value {
    json!({ "message": text })
}
