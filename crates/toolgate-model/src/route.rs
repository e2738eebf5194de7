//! From the name of a model to who answers: whose wire format, at which address, with which key. Pure.

use genai::adapter::AdapterKind;

use crate::answer::Manner;
use crate::error::{ModelError, ModelErrorKind};
use crate::provider::Provider;

/// Where Ollama listens, as a server that speaks the format of OpenAI.
const OLLAMA_URL: &str = "http://localhost:11434/v1/";

/// Between the namespace and the name of a model.
const BETWEEN: &str = "::";

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) adapter: AdapterKind,
    /// How its answers are read.
    pub(crate) manner: Manner,
    /// The model as its provider calls it.
    pub(crate) model: String,
    /// The address, where it is not the provider's usual one.
    pub(crate) url: Option<&'static str>,
    /// Variables in which the key usually is, first things first. Nothing when none is needed.
    pub(crate) key_variables: Vec<&'static str>,
    /// Whether the models of this provider look at pictures.
    pub(crate) takes_images: bool,
}

impl Route {
    /// Who has the model of that name.
    pub(crate) fn of(name: &str) -> Result<Self, ModelError> {
        match name.split_once(BETWEEN) {
            Some((namespace, model)) => Self::in_namespace(name, namespace, model),
            None => Self::plain(name),
        }
    }

    /// Whether the same key opens both.
    pub(crate) fn has_key_of(&self, other: &Self) -> bool {
        self.key_variables == other.key_variables
    }

    fn in_namespace(name: &str, namespace: &str, model: &str) -> Result<Self, ModelError> {
        let adapter = AdapterKind::from_lower_str(namespace).filter(|kind| !matches!(kind, AdapterKind::Custom(_)));
        match adapter {
            Some(adapter) if !model.is_empty() => Ok(Self::by(adapter, model)),
            Some(_) => Err(wrong(format!("model.name: no model is named in `{name}`"))),
            None => {
                let known: Vec<&str> = ["openai", "gemini", "anthropic", "ollama"].to_vec();
                let hint = format!("write one of `{}::`, or another that is documented", known.join("::`, `"));
                Err(wrong(format!("model.name: no provider is called `{namespace}`")).hinting(hint))
            }
        }
    }

    fn plain(name: &str) -> Result<Self, ModelError> {
        let unknown = || {
            wrong(format!("model.name: it does not say who has the model `{name}`"))
                .hinting(format!("write it with its provider, such as `ollama::{name}` or `openai::{name}`"))
        };
        match AdapterKind::from_model(name) {
            // What the library means by it is "anything else".
            Ok(AdapterKind::Ollama) | Err(_) => Err(unknown()),
            Ok(AdapterKind::OpenAIResp) if !is_responses_only(name) => Ok(Self::by(AdapterKind::OpenAI, name)),
            Ok(adapter) => Ok(Self::by(adapter, name)),
        }
    }

    fn by(adapter: AdapterKind, model: &str) -> Self {
        let takes_images = matches!(
            adapter,
            AdapterKind::Gemini | AdapterKind::OpenAI | AdapterKind::OpenAIResp | AdapterKind::Anthropic
        );
        let mut key_variables: Vec<&str> = adapter.default_key_env_name().into_iter().collect();
        if adapter == AdapterKind::Gemini {
            key_variables.push("GOOGLE_API_KEY");
        }
        let is_ollama = adapter == AdapterKind::Ollama;
        // It speaks the format of OpenAI too, and so do those that stand in for it.
        let adapter = if is_ollama { AdapterKind::OpenAI } else { adapter };
        Self {
            adapter,
            manner: manner(adapter, model),
            model: model.to_owned(),
            url: is_ollama.then_some(OLLAMA_URL),
            key_variables: if is_ollama { Vec::new() } else { key_variables },
            takes_images,
        }
    }
}

/// Models that OpenAI has behind its newer interface alone.
fn is_responses_only(name: &str) -> bool {
    name.contains("codex") || name.ends_with("-pro")
}

fn manner(adapter: AdapterKind, model: &str) -> Manner {
    let provider = provider(adapter, model);
    // Behind some names are formats of their own, or one of several.
    let is_another_format = matches!(
        adapter,
        AdapterKind::OpenAIResp
            | AdapterKind::Cohere
            | AdapterKind::OllamaCloud
            | AdapterKind::Baidu
            | AdapterKind::OpenCodeGo
    );
    Manner {
        provider,
        joins_calls: provider == Provider::OpenAi && !is_another_format,
        returns_thoughts: matches!(adapter, AdapterKind::DeepSeek | AdapterKind::Kimi | AdapterKind::Moonshot),
    }
}

fn provider(adapter: AdapterKind, model: &str) -> Provider {
    match adapter {
        AdapterKind::Gemini | AdapterKind::GeminiIx => Provider::Gemini,
        AdapterKind::Anthropic | AdapterKind::MiniMax | AdapterKind::BedrockApi => Provider::Anthropic,
        AdapterKind::Vertex if model.starts_with("gemini") => Provider::Gemini,
        AdapterKind::Vertex => Provider::Anthropic,
        _ => Provider::OpenAi,
    }
}

fn wrong(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Settings, message)
}

#[cfg(test)]
mod tests {
    use genai::adapter::AdapterKind;

    use super::Route;
    use crate::provider::Provider;

    #[test]
    fn names_say_who_answers() {
        let cases = [
            ("gemini-3-pro", AdapterKind::Gemini, Provider::Gemini, "gemini-3-pro", Some("GEMINI_API_KEY")),
            ("gpt-5", AdapterKind::OpenAI, Provider::OpenAi, "gpt-5", Some("OPENAI_API_KEY")),
            ("gpt-5-pro", AdapterKind::OpenAIResp, Provider::OpenAi, "gpt-5-pro", Some("OPENAI_API_KEY")),
            ("o3-mini", AdapterKind::OpenAI, Provider::OpenAi, "o3-mini", Some("OPENAI_API_KEY")),
            ("claude-x", AdapterKind::Anthropic, Provider::Anthropic, "claude-x", Some("ANTHROPIC_API_KEY")),
            ("ollama::llama3:8b", AdapterKind::OpenAI, Provider::OpenAi, "llama3:8b", None),
            ("openai::qwen", AdapterKind::OpenAI, Provider::OpenAi, "qwen", Some("OPENAI_API_KEY")),
            ("groq::x", AdapterKind::Groq, Provider::OpenAi, "x", Some("GROQ_API_KEY")),
            ("vertex::gemini-x", AdapterKind::Vertex, Provider::Gemini, "gemini-x", Some("VERTEX_API_KEY")),
        ];
        for (name, adapter, provider, model, key) in cases {
            let route = Route::of(name).unwrap();
            let found = (route.adapter, route.manner.provider, route.model.as_str());
            assert_eq!(found, (adapter, provider, model), "{name}");
            let joins_calls = provider == Provider::OpenAi && adapter != AdapterKind::OpenAIResp;
            assert_eq!(route.manner.joins_calls, joins_calls, "{name}");
            assert_eq!(route.key_variables.first().copied(), key, "{name}");
        }
    }

    #[test]
    fn names_that_say_nothing_are_wrong() {
        for name in ["llama3", "gpt-oss-20b", "nobody::x", "openai::", "::x", "genai_1::x", ""] {
            let error = Route::of(name).unwrap_err();
            assert!(error.to_string().starts_with("model.name: "), "{name}: {error}");
        }
    }
}
