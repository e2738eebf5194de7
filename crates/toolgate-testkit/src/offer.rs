//! What a scripted server offers: tools, prompts and resources, each a raw definition and a behaviour.
//! Definitions are plain JSON so that malformed entries can be offered too.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::behaviour::Behaviour;

/// One tool: the entry shown by `tools/list` and what `tools/call` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolScript {
    /// The entry exactly as listed.
    pub definition: Value,
    /// What a call of it does.
    pub behaviour: Behaviour,
}

impl ToolScript {
    /// A tool with an object schema without properties.
    pub fn new(name: impl Into<String>, behaviour: Behaviour) -> Self {
        let name = name.into();
        let definition = json!({
            "name": name,
            "description": format!("the scripted tool {name}"),
            "inputSchema": {"type": "object"},
        });
        Self { definition, behaviour }
    }

    /// A tool that answers with the text of `arguments.message`.
    pub fn echo(name: impl Into<String>) -> Self {
        Self::new(name, Behaviour::Echo).input_schema(json!({
            "type": "object",
            "properties": {"message": {"type": "string"}},
            "required": ["message"],
        }))
    }

    /// A tool that answers with one text.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(name, Behaviour::text(text))
    }

    /// A tool whose entry is any JSON at all, well formed or not.
    pub fn raw(definition: Value, behaviour: Behaviour) -> Self {
        Self { definition, behaviour }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.field("description", Value::String(description.into()))
    }

    /// Sets the input schema.
    #[must_use]
    pub fn input_schema(self, schema: Value) -> Self {
        self.field("inputSchema", schema)
    }

    /// Sets the output schema.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        self.field("outputSchema", schema)
    }

    /// Sets the annotations (`readOnlyHint` and so on).
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.field("annotations", annotations)
    }

    /// Sets any field of the definition; does nothing when the definition is not an object.
    #[must_use]
    pub fn field(mut self, key: &str, value: Value) -> Self {
        if let Some(object) = self.definition.as_object_mut() {
            object.insert(key.to_owned(), value);
        }
        self
    }

    /// The name a call uses; empty when the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        text_of(&self.definition, "name")
    }
}

/// One prompt: the entry shown by `prompts/list` and what `prompts/get` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptScript {
    /// The entry exactly as listed.
    pub definition: Value,
    /// What getting it does; a [`Behaviour::Reply`] holds the whole result.
    pub behaviour: Behaviour,
}

impl PromptScript {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>, behaviour: Behaviour) -> Self {
        let name = name.into();
        let definition = json!({"name": name, "description": format!("the scripted prompt {name}")});
        Self { definition, behaviour }
    }

    /// A prompt that answers with one user message.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": text.into()}});
        Self::new(name, Behaviour::Reply(json!({"messages": [message]})))
    }

    /// Adds an argument to the definition.
    #[must_use]
    pub fn argument(mut self, name: &str, need: Need) -> Self {
        let argument = json!({"name": name, "required": need == Need::Required});
        if let Some(object) = self.definition.as_object_mut() {
            let list = object.entry("arguments").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(argument);
            }
        }
        self
    }

    /// The name a client asks for; empty when the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        text_of(&self.definition, "name")
    }
}

/// Whether a prompt argument must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must be given.
    Required,
    /// It may be left out.
    Optional,
}

/// One resource: the entry shown by `resources/list` and what `resources/read` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceScript {
    /// The entry exactly as listed.
    pub definition: Value,
    /// What reading it does; a [`Behaviour::Reply`] holds the whole result.
    pub behaviour: Behaviour,
}

impl ResourceScript {
    /// A resource with a URI; its name is the URI.
    pub fn new(uri: impl Into<String>, behaviour: Behaviour) -> Self {
        let uri = uri.into();
        Self { definition: json!({"uri": uri, "name": uri}), behaviour }
    }

    /// A resource that reads as one text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        let uri = uri.into();
        let contents = json!({"uri": uri, "mimeType": "text/plain", "text": text.into()});
        Self::new(uri, Behaviour::Reply(json!({"contents": [contents]})))
    }

    /// The URI a client reads; empty when the definition has none.
    #[must_use]
    pub fn uri(&self) -> &str {
        text_of(&self.definition, "uri")
    }
}

/// The three lists that can change while a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
}

impl ListKind {
    /// The notification that announces a change of this list.
    #[must_use]
    pub const fn notification(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
        }
    }

    /// The key of this list in a `subscriptions/listen` filter.
    #[must_use]
    pub const fn filter_key(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Prompts => "promptsListChanged",
            Self::Resources => "resourcesListChanged",
        }
    }
}

/// One change of what a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A tool appears.
    AddTool(ToolScript),
    /// The tool of this name disappears.
    RemoveTool(String),
    /// A prompt appears.
    AddPrompt(PromptScript),
    /// A resource appears.
    AddResource(ResourceScript),
    /// Nothing changes, the notification is sent all the same.
    Announce(ListKind),
}

impl Change {
    /// The list that changes.
    #[must_use]
    pub const fn kind(&self) -> ListKind {
        match self {
            Self::AddTool(_) | Self::RemoveTool(_) => ListKind::Tools,
            Self::AddPrompt(_) => ListKind::Prompts,
            Self::AddResource(_) => ListKind::Resources,
            Self::Announce(kind) => *kind,
        }
    }
}

fn text_of<'a>(definition: &'a Value, key: &str) -> &'a str {
    definition.get(key).and_then(Value::as_str).unwrap_or_default()
}
