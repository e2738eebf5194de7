//! `model`: what the layers come to. A folder may name a model, and the address of one on this machine; it never sees a key.

use crate::settings::load::Settings;
use crate::settings::position::Located;
use crate::settings::raw::RawValue;
use crate::settings::source::{SettingsLayer, SettingsOrigin};

/// What is written about the model. Nothing is expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// `name`.
    pub name: Option<String>,
    /// `baseUrl`.
    pub base_url: Option<String>,
    /// Where a workspace folder wrote it, when it did: keys of the person are not sent wherever a folder likes.
    pub base_url_of_folder: Option<SettingsOrigin>,
    /// `apiKey`.
    pub api_key: Option<ModelKey>,
    /// `maxTurns`.
    pub max_turns: Option<u32>,
}

/// A key as it is written: a text with references to secrets in it.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelKey {
    pub(crate) text: String,
    pub(crate) origin: SettingsOrigin,
}

impl std::fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelKey").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Settings {
    /// What is written about the model.
    #[must_use]
    pub fn model(&self) -> ModelSettings {
        let of_person = |layer: &SettingsLayer| !layer.is_of_workspace();
        let base_url = self.text_of("model.baseUrl", |_| true);
        let api_key = self.text_of("model.apiKey", of_person);
        let turns = self.highest_kept("model.maxTurns", |_| true).and_then(|(_, value)| match &value.value {
            RawValue::Number(number) => number.parse::<f64>().ok(),
            _ => None,
        });
        ModelSettings {
            name: self.text_of("model.name", |_| true).map(|(text, ..)| text),
            base_url_of_folder: base_url.as_ref().filter(|(_, layer, _)| layer.is_of_workspace()).map(origin),
            api_key: api_key.map(|written| ModelKey { origin: origin(&written), text: written.0 }),
            base_url: base_url.map(|(text, ..)| text),
            max_turns: turns.map(whole),
        }
    }

    /// The models that any layer names, those of higher layers first.
    #[must_use]
    pub fn model_names(&self) -> Vec<String> {
        let mut named: Vec<_> =
            self.layers.iter().filter_map(|layer| Some((layer.source, layer.kept("model.name")?))).collect();
        named.sort_by_key(|(source, _)| std::cmp::Reverse(*source));
        let mut names: Vec<String> = Vec::new();
        for (_, name) in named {
            if let RawValue::Text(text) = &name.value
                && !text.trim().is_empty()
                && !names.iter().any(|known| known == text.trim())
            {
                names.push(text.trim().to_owned());
            }
        }
        names
    }

    fn text_of(
        &self,
        path: &str,
        counts: impl Fn(&SettingsLayer) -> bool,
    ) -> Option<(String, &SettingsLayer, &Located<RawValue>)> {
        let (layer, value) = self.highest_kept(path, counts)?;
        match &value.value {
            RawValue::Text(text) => Some((text.trim().to_owned(), layer, value)).filter(|(text, ..)| !text.is_empty()),
            _ => None,
        }
    }

    fn highest_kept(
        &self,
        path: &str,
        counts: impl Fn(&SettingsLayer) -> bool,
    ) -> Option<(&SettingsLayer, &Located<RawValue>)> {
        let layers = self.layers.iter().filter(|layer| counts(layer));
        let written = layers.filter_map(|layer| Some((layer, layer.kept(path)?)));
        written.max_by_key(|(layer, _)| layer.source)
    }
}

fn origin((_, layer, value): &(String, &SettingsLayer, &Located<RawValue>)) -> SettingsOrigin {
    layer.origin(value.at.line)
}

/// A number of turns: at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates, as it should")]
fn whole(number: f64) -> u32 {
    (number as u32).max(1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ModelSettings;
    use crate::settings::load::Settings;
    use crate::settings::read::read_text;
    use crate::settings::source::SettingsSource;

    fn settings(layers: &[(SettingsSource, &str)]) -> Settings {
        let layer = |(source, text): &(SettingsSource, &str)| {
            read_text(&format!(r#"{{"model": {text}}}"#), Path::new("/s.json"), *source).unwrap()
        };
        Settings { layers: layers.iter().map(layer).collect(), ..Settings::default() }
    }

    fn model(layers: &[(SettingsSource, &str)]) -> ModelSettings {
        settings(layers).model()
    }

    #[test]
    fn every_layer_may_name_a_model() {
        let user = (SettingsSource::User, r#"{"name": " gemini-a "}"#);
        let folder = (SettingsSource::Workspace, r#"{"name": "gpt-b"}"#);
        let system = (SettingsSource::SystemDefaults, r#"{"name": "gemini-a"}"#);
        assert_eq!(settings(&[system, user, folder]).model_names(), ["gpt-b", "gemini-a"]);
        assert!(settings(&[(SettingsSource::User, r#"{"name": ""}"#)]).model_names().is_empty());
    }

    #[test]
    fn the_highest_layer_counts_and_a_folder_brings_no_key() {
        let user = (SettingsSource::User, r#"{"name": "gemini-a", "apiKey": "mine", "maxTurns": 3}"#);
        let folder = (SettingsSource::Workspace, r#"{"name": "gpt-b", "baseUrl": "https://far", "apiKey": "theirs"}"#);
        let found = model(&[user, folder]);
        assert_eq!((found.name.as_deref(), found.max_turns), (Some("gpt-b"), Some(3)));
        assert_eq!(found.api_key.map(|key| key.text).as_deref(), Some("mine"));
        assert_eq!((found.base_url.as_deref(), found.base_url_of_folder.is_some()), (Some("https://far"), true));
        let own = (SettingsSource::User, r#"{"baseUrl": " http://near/v1 ", "name": ""}"#);
        let found = model(&[own]);
        assert_eq!((found.name, found.base_url.as_deref()), (None, Some("http://near/v1")));
        assert_eq!((found.base_url_of_folder, found.api_key), (None, None));
        assert_eq!(model(&[]), ModelSettings::default());
    }
}
