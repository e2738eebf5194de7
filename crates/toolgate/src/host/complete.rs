//! What servers propose while somebody fills in one of their prompts: `completion/complete`.

use std::collections::BTreeMap;

use serde_json::json;
use toolgate_wire::{Call, RawJson};

use super::Host;
use super::ask::look;
use crate::error::Result;
use crate::limits::PROPOSED_VALUES_MAX;
use crate::registry::CatalogPrompt;

/// What a server calls its ability to propose values.
const ABILITY: &str = "completions";

impl Host {
    /// Values for an argument of a prompt that its server proposes for what is typed so far, beside what other arguments were given; none from a server
    /// that does not do that.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub async fn complete_prompt(
        &self,
        prompt: &CatalogPrompt,
        (argument, typed): (&str, &str),
        given: &BTreeMap<String, String>,
    ) -> Result<Vec<String>> {
        let line = self.line(&prompt.server)?;
        let about = line.live().await?.connection.client().about();
        if about.capabilities.member(ABILITY).is_none_or(|ability| ability.is_null()) {
            return Ok(Vec::new());
        }
        let mut params = json!({
            "ref": {"type": "ref/prompt", "name": prompt.prompt.name},
            "argument": {"name": argument, "value": typed},
        });
        if !given.is_empty() {
            params["context"] = json!({"arguments": given});
        }
        let call = Call::new("completion/complete", Some(RawJson::from(params)));
        let (connection, answer) = look(&line, call).await?;
        let answer = answer.map_err(|error| connection.failed(error))?;
        let values = answer.member("completion").and_then(|completion| completion.member("values"));
        let values = values.and_then(|values| values.elements_within(PROPOSED_VALUES_MAX)).unwrap_or_default().0;
        Ok(values.iter().filter_map(|value| value.read().ok()).collect())
    }
}
