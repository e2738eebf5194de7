//! A front end that answers every kind of question without a person.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolgate::auth::guide::LoginGuide;
use toolgate::{Abilities, Elicitation, ElicitationAnswer, FrontEnd, RawJson, ServerName};

use crate::browser::RedirectFollower;

/// Says yes to everything.
#[derive(Debug)]
pub(crate) struct Generous;

impl FrontEnd for Generous {
    fn abilities(&self) -> Abilities {
        Abilities { forms: true, urls: false, sampling: true }
    }

    fn elicit(&self, _server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async move {
            match question {
                Elicitation::Form { schema, .. } => {
                    let schema: Value = schema.read().unwrap_or_default();
                    ElicitationAnswer::Accept(Some(sample(&schema, Fill::Everything).into()))
                }
                Elicitation::Url { .. } => ElicitationAnswer::Decline,
            }
        })
    }

    fn sample(&self, _server: ServerName, _request: RawJson) -> BoxFuture<'static, Result<RawJson, String>> {
        Box::pin(async {
            let content = json!({"type": "text", "text": "a sampled answer"});
            Ok(json!({"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"}).into())
        })
    }

    fn login_guide(&self) -> Option<Arc<dyn LoginGuide>> {
        Some(Arc::new(RedirectFollower))
    }
}

/// Which properties of a schema get a value.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fill {
    /// Those that must have one.
    Required,
    /// Those, and every one with a default.
    Everything,
}

/// A value that fits a schema. References outside the schema are never followed.
pub(crate) fn sample(schema: &Value, fill: Fill) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
        return value.clone();
    }
    if let Some(first) = schema["enum"].get(0).or_else(|| schema["oneOf"].get(0).and_then(|choice| choice.get("const")))
    {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => "test".into(),
        Some("number" | "integer") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        _ => {
            let required =
                |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name));
            let properties = schema["properties"].as_object().into_iter().flatten();
            let chosen = properties.filter(|(name, property)| {
                required(name) || (fill == Fill::Everything && property.get("default").is_some())
            });
            chosen.map(|(name, property)| (name.clone(), sample(property, fill))).collect::<Map<_, _>>().into()
        }
    }
}
