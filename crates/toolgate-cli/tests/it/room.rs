//! A sealed world with the program and scripted servers in it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolgate_testkit::command::{CommandOutput, TestCommand};
use toolgate_testkit::{Script, TestWorld, scripted_server_path};

const ROOM_POLICY: &str = ".toolgate/policies/room.toml";

const ALLOW_EVERYTHING: &str =
    "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\nallowRedirection = true\n";

/// One test's world.
pub(crate) struct Room {
    pub(crate) world: TestWorld,
    servers: Map<String, Value>,
    settings: Map<String, Value>,
    is_about_questions: bool,
}

impl Room {
    /// An empty home, an empty workspace, no settings.
    pub(crate) fn new() -> Self {
        let mut world = TestWorld::new().expect("the world is made");
        // Whatever the administrator of this machine has set up is not part of the test.
        let system = world.root().join("system").display().to_string();
        world.set_variable("TOOLGATE_SYSTEM_DIR", system);
        Self { world, servers: Map::new(), settings: Map::new(), is_about_questions: false }
    }

    /// With nothing allowed beyond what the program allows by itself.
    pub(crate) fn with_questions(mut self) -> Self {
        self.is_about_questions = true;
        let _was_there = std::fs::remove_file(self.world.home().join(ROOM_POLICY)).is_ok();
        self
    }

    /// With everything allowed, also without any settings.
    pub(crate) fn without_questions(self) -> Self {
        self.world.write_in_home(ROOM_POLICY, ALLOW_EVERYTHING).expect("the policy is written");
        self
    }

    /// With a scripted server over stdio. Its command line is short, whatever the paths of this machine are.
    pub(crate) fn server(self, name: &str, script: &Script) -> Self {
        let program = self.world.root().join("server");
        if !program.exists() {
            let real = scripted_server_path().expect("the scripted server is built");
            std::os::unix::fs::symlink(real, &program).expect("the scripted server is here");
        }
        std::fs::write(self.world.root().join(format!("{name}.json")), script.to_json())
            .expect("the script is written");
        let (script, log) = (format!("../{name}.json"), format!("../{name}.log"));
        self.entry(name, json!({"command": program.display().to_string(), "args": ["--script", script, "--log", log]}))
    }

    /// With any entry of `mcpServers`.
    pub(crate) fn entry(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        self.write();
        self
    }

    /// With more in the entry of a server.
    pub(crate) fn with(mut self, name: &str, key: &str, value: Value) -> Self {
        let entry = self.servers.get_mut(name).and_then(Value::as_object_mut).expect("the server is there");
        entry.insert(key.to_owned(), value);
        self.write();
        self
    }

    /// Without a server that was there.
    pub(crate) fn without_entry(mut self, name: &str) -> Self {
        self.servers.remove(name);
        self.write();
        self
    }

    /// Without the built-in server, which has nothing to do with most tests.
    pub(crate) fn without_workspace(mut self) -> Self {
        self.settings.insert("mcp".to_owned(), json!({"excluded": ["workspace"]}));
        self.write();
        self
    }

    /// With any other part of the settings.
    pub(crate) fn setting(mut self, key: &str, value: Value) -> Self {
        self.settings.insert(key.to_owned(), value);
        self.write();
        self
    }

    fn write(&self) {
        let mut settings = self.settings.clone();
        settings.insert("mcpServers".to_owned(), Value::Object(self.servers.clone()));
        let settings = by_name(&Value::Object(settings));
        self.world.write_in_home(".toolgate/settings.json", &settings.to_string()).expect("it is written");
        // Most tests are not about what may be called.
        if !self.is_about_questions {
            self.world.write_in_home(ROOM_POLICY, ALLOW_EVERYTHING).expect("the policy is written");
        }
    }

    /// What a scripted server saw.
    pub(crate) fn log(&self, server: &str) -> PathBuf {
        self.world.root().join(format!("{server}.log"))
    }

    /// Of how many servers it is remembered what they offer.
    pub(crate) fn remembered(&self) -> usize {
        let entries = std::fs::read_dir(self.world.home().join(".toolgate/catalogues"));
        let names = entries.into_iter().flatten().map(|entry| entry.expect("it can be read").file_name());
        names.filter(|name| name.len() == 64).count()
    }

    /// A command to be run.
    pub(crate) fn command<'a>(&'a self, words: impl IntoIterator<Item = &'a str>) -> TestCommand<'a> {
        self.world.command(env!("CARGO_BIN_EXE_toolgate")).args(words)
    }

    /// A command line, split at blanks.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        self.command(line.split_whitespace()).run().expect("it ends")
    }

    /// A command line, compared.
    #[track_caller]
    pub(crate) fn check(&self, line: &str, expected: &str) {
        self.run(line).assert_transcript(expected);
    }

    /// A command that prints one JSON object.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        let output = self.run(line);
        let lines = output.stdout.lines().count();
        assert_eq!(lines, 1, "one object on one line:\n{}", output.transcript());
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", output.transcript()))
    }
}

/// A server that wants a login for everything.
pub(crate) fn closed() -> Script {
    use toolgate_testkit::{HttpAnswer, What, When};
    let refusal = || What::HttpStatus(HttpAnswer::status(401));
    Script::new("closed").fault(When::Method("server/discover"), refusal()).fault(When::Method("initialize"), refusal())
}

/// A server with a few tools, prompts and resources.
pub(crate) fn sample(name: &str) -> Script {
    use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, ToolScript, offer::Need};
    let add = json!({
        "type": "object",
        "properties": {"a": {"type": "number", "description": "one"}, "b": {"type": "number"}, "how": {"enum": ["exactly", "roughly"]}},
        "required": ["a", "b"]
    });
    Script::new(name)
        .tool(ToolScript::echo("echo").description("Says it again.\n\nAnd nothing else."))
        .tool(ToolScript::text("add", "5").description("Adds.").input_schema(add))
        .tool(ToolScript::new("fail", Behaviour::tool_error("it broke")))
        .prompt(
            PromptScript::text("greet", "Say hello").argument("who", Need::Required).argument("style", Need::Optional),
        )
        .resource(ResourceScript::text("docs://start", "Begin here."))
        .template(json!({"uriTemplate": "docs://page/{number}", "name": "page", "mimeType": "text/plain"}))
}

/// The same with all members by their names, whatever order they were added in.
fn by_name(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, Value> = members.iter().map(|(name, value)| (name, by_name(value))).collect();
            json!(sorted)
        }
        Value::Array(items) => items.iter().map(by_name).collect(),
        other => other.clone(),
    }
}
