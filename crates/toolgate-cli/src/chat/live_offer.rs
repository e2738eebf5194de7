//! What there is to choose from at this moment: the catalog of the session, the folder it runs in, and what servers propose.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolgate::call::arguments::{ParameterHelp, describe};
use toolgate::registry::CatalogPrompt;

use super::LastingHost;
use super::complete::{Candidate, Offer};
use super::status::Standing;
use crate::limits::{COMPLETION_MS, FOLDER_ENTRIES_MAX};

/// What the servers of the session offer.
#[derive(Debug)]
pub(super) struct LiveOffer {
    host: Arc<LastingHost>,
    standing: Arc<Standing>,
    folder: PathBuf,
}

impl LiveOffer {
    pub(super) fn new(standing: Arc<Standing>, folder: PathBuf) -> Self {
        Self { host: standing.host().clone(), standing, folder }
    }

    /// What a server proposes for an argument of its prompt. The person waits for it with a finger on the key.
    fn proposed(
        &self,
        prompt: &CatalogPrompt,
        argument: &str,
        typed: &str,
        given: &BTreeMap<String, String>,
    ) -> Vec<String> {
        let asked = self.host.host().complete_prompt(prompt, (argument, typed), given);
        let asked = async { tokio::time::timeout(Duration::from_millis(COMPLETION_MS), asked).await };
        let answered = tokio::runtime::Handle::try_current().ok().map(|runtime| runtime.block_on(asked));
        answered.and_then(Result::ok).and_then(Result::ok).unwrap_or_default()
    }
}

fn options(texts: Vec<String>) -> Vec<Candidate> {
    texts.into_iter().map(|text| Candidate { text, about: None, is_whole: false }).collect()
}

impl Offer for LiveOffer {
    fn servers(&self) -> Vec<(String, bool)> {
        let views = self.host.host().servers();
        let on = views.iter().map(|view| (view.name().to_string(), false));
        on.chain(self.host.switched_off().into_iter().map(|name| (name, true))).collect()
    }

    fn tools(&self) -> Vec<(String, Option<String>)> {
        let catalog = self.host.host().catalog();
        let is_shown = |tool: &&toolgate::registry::CatalogTool| self.host.host().why_hidden(&catalog, tool).is_none();
        let about = |text: Option<&str>| text.map(ToOwned::to_owned);
        let tools = catalog.tools().iter().filter(is_shown);
        tools.map(|tool| (tool.name.to_string(), about(tool.description().or(tool.title())))).collect()
    }

    fn parameters(&self, tool: &str) -> Vec<ParameterHelp> {
        let catalog = self.host.host().catalog();
        catalog.find(tool).map(|tool| describe(&tool.input_schema())).unwrap_or_default()
    }

    fn prompts(&self) -> Vec<(String, Option<String>)> {
        let prompts = self.host.prompts();
        prompts.iter().map(|command| (command.name.to_string(), Some(command.description()))).collect()
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<(String, bool, Option<String>)> {
        let catalog = self.host.host().catalog();
        let Some(prompt) = catalog.find_prompt(prompt) else { return Vec::new() };
        let arguments = prompt.arguments().iter();
        arguments.map(|one| (one.name.clone(), one.required, one.description.clone())).collect()
    }

    fn prompt_values(&self, prompt: &str, argument: &str, typed: &str) -> Vec<String> {
        let catalog = self.host.host().catalog();
        let given = BTreeMap::new();
        catalog.find_prompt(prompt).map(|prompt| self.proposed(prompt, argument, typed, &given)).unwrap_or_default()
    }

    fn behind_prompt(&self, command: &str, behind: &str) -> Option<(usize, Vec<Candidate>)> {
        let command = self.host.prompt(command)?;
        let found = command.complete(behind);
        let Some(wanted) = &found.value else { return Some((found.from, options(found.options))) };
        let proposed = self.proposed(&command.prompt, &wanted.argument, &wanted.prefix, &wanted.given);
        if proposed.is_empty() {
            return Some((found.from, options(found.options)));
        }
        let values = proposed.iter().map(|value| Candidate { text: wanted.typed(value), about: None, is_whole: true });
        Some((wanted.from, values.collect()))
    }

    fn resources(&self) -> Vec<(String, Option<String>)> {
        let catalog = self.host.host().catalog();
        let resources = catalog.resources().iter();
        resources.map(|one| (format!("{}:{}", one.server, one.resource.uri), Some(one.resource.name.clone()))).collect()
    }

    fn models(&self) -> Vec<String> {
        self.standing.models()
    }

    fn files(&self, typed: &str) -> Vec<String> {
        let (folder, begin) = typed.rsplit_once('/').map_or(("", typed), |(folder, begin)| (folder, begin));
        let shown = if typed.contains('/') { format!("{folder}/") } else { String::new() };
        // An absolute path stays one.
        let place =
            if typed.starts_with('/') && folder.is_empty() { PathBuf::from("/") } else { self.folder.join(folder) };
        let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
        let mut found: Vec<String> = entries
            .take(FOLDER_ENTRIES_MAX)
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let is_meant = name.starts_with(begin) && (!name.starts_with('.') || begin.starts_with('.'));
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                is_meant.then(|| format!("{shown}{name}{}", if is_folder { "/" } else { "" }))
            })
            .collect();
        found.sort();
        found
    }
}
