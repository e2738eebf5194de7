//! Which model answers: the one of the settings, or another one for as long as the session lasts. `/model`, and what is said to it.

use futures_util::FutureExt as _;
use toolgate::Setup;
use toolgate::shape::visible;
use toolgate_model::{Conversation, Input, Model, ModelConfig};

use super::Chat;
use super::prompts::stoppable;
use crate::arrival::{Waiting, all_settled, enough_for_a_model};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;

/// How a model is added, in one line.
pub(super) const NO_MODEL: &str = "no model is set: `\"model\": {\"name\": \"…\"}` in your settings adds one";

/// How another one is chosen.
const SWITCH: &str =
    "/model NAME switches for this session: gemini-…, gpt-…, claude-…, ollama::… or PROVIDER::…, see docs/model.md";

impl Chat<'_> {
    /// Something for the model.
    pub(super) fn say(&mut self, text: &str) -> Result<Ending> {
        if self.standing.model().is_none() && !self.has_model_by_now()? {
            return Err(no_model());
        }
        self.wait_for_enough();
        let input = self.with_references(text)?;
        self.ask(input)
    }

    /// A script cannot say it again once a server is there: the model begins when there is something to begin with.
    fn wait_for_enough(&self) {
        if self.host.waiting() == Waiting::ForAll {
            let waiting = enough_for_a_model(self.host.host(), self.session.printer.talk());
            // Whoever does not want to wait is heard by what follows.
            let _is_stopped = stoppable(&self.host.interrupts(), waiting.map(Ok)).is_err();
        }
    }

    /// A prompt that nobody has may be one of a server that is still starting: a script waits for all of them.
    pub(super) fn wait_unless_looked_at(&self) {
        if self.host.waiting() != Waiting::ForAll {
            return;
        }
        let waiting = all_settled(self.host.host(), self.session.printer.talk());
        // Whoever does not want to wait is heard by what follows.
        let _is_stopped = stoppable(&self.host.interrupts(), waiting.map(Ok)).is_err();
    }

    /// Whether the settings name a model since they were changed.
    fn has_model_by_now(&self) -> Result<bool> {
        let named = self.session.configured()?.setup().settings.model().name;
        self.standing.set_model(named.clone());
        Ok(named.is_some())
    }

    /// Has the model of this moment answer.
    pub(super) fn ask(&mut self, input: Input) -> Result<Ending> {
        let configured = self.session.configured()?;
        let setup = configured.setup();
        let config = self.model_config(setup)?.ok_or_else(no_model)?;
        self.standing.set_model(Some(config.name.clone()));
        let mut conversation = self.conversation_with(config, setup)?;
        let ended = self.answer(&mut conversation, input);
        self.conversation = Some(conversation);
        ended
    }

    /// The conversation so far with that model, or a new one.
    fn conversation_with(&mut self, config: ModelConfig, setup: &Setup) -> Result<Conversation> {
        if let Some(same) = self.conversation.take_if(|one| one.model().name() == config.name) {
            return Ok(same);
        }
        let model = made(config, setup)?;
        Ok(match self.conversation.take() {
            Some(conversation) => self.goes_on(conversation, model),
            None => {
                let conversation = Conversation::new(model).with_context(self.context());
                conversation.with_search(setup.settings.tool_search())
            }
        })
    }

    /// The model that was chosen for the session, or the one of the settings.
    fn model_config(&self, setup: &Setup) -> Result<Option<ModelConfig>> {
        let (settings, env) = (&setup.settings, &setup.env);
        let reading = async {
            match &self.chosen_model {
                Some(name) => ModelConfig::named(name, settings, env).await.map(Some),
                None => ModelConfig::read(settings, env).await,
            }
        };
        tokio::runtime::Handle::current().block_on(reading).map_err(|error| CommandError::from(&error))
    }

    /// The same conversation with another model. What of it that one cannot take is told.
    fn goes_on(&self, mut conversation: Conversation, model: Model) -> Conversation {
        let name = visible::line(model.name()).into_owned();
        let unseen = conversation.set_model(model);
        if unseen > 0 {
            let unseen = counted(unseen, "attachment");
            let line = format!("{name} takes texts only; left out of the conversation from here on: {unseen}");
            self.session.printer.talk().line(&line);
        }
        conversation
    }

    /// Where the person works.
    fn context(&self) -> String {
        format!("The person works in the folder {}.", self.session.env().workspace.display())
    }

    /// `/model`: shows who answers, or has another one answer.
    pub(super) fn model(&mut self, asked: &str) -> Result<Ending> {
        match asked.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => self.show_model()?,
            [name] => self.switch_model(name)?,
            _ => return Err(CommandError::usage("/model takes one name").hint(SWITCH)),
        }
        Ok(self.session.printer.flush().map(|()| Ending::Done)?)
    }

    fn show_model(&mut self) -> Result<()> {
        let configured = self.session.configured()?;
        let setup = configured.setup();
        match self.model_config(setup) {
            Ok(Some(config)) => {
                let line = about(&config, &made(config.clone(), setup)?);
                self.session.printer.line(&line)?;
            }
            Ok(None) => self.session.printer.line(NO_MODEL)?,
            // Which one it is can be said, and what is wrong with it.
            Err(error) => {
                let name = self.standing.model().unwrap_or_default();
                self.session.printer.line(&visible::line(&name))?;
                self.session.printer.flush()?;
                return Err(error.hint(SWITCH));
            }
        }
        Ok(self.session.printer.line(SWITCH)?)
    }

    /// Another model answers from now on; when it cannot be asked, the one before does.
    fn switch_model(&mut self, name: &str) -> Result<()> {
        let configured = self.session.configured()?;
        let setup = configured.setup();
        let reading = ModelConfig::named(name, &setup.settings, &setup.env);
        let config = tokio::runtime::Handle::current().block_on(reading).map_err(|error| CommandError::from(&error));
        let both = config.and_then(|config| Ok((made(config.clone(), setup)?, config)));
        let (model, config) = both.map_err(|error| match self.standing.model() {
            Some(former) => error.hint(format!("{former} still answers")),
            None => error,
        })?;
        let line = about(&config, &model);
        self.conversation = match self.conversation.take() {
            Some(conversation) if conversation.model().name() != name => Some(self.goes_on(conversation, model)),
            other => other,
        };
        // Whoever is back at the model of the settings follows them again.
        let is_of_settings = setup.settings.model().name.as_deref() == Some(name);
        self.chosen_model = (!is_of_settings).then(|| name.to_owned());
        self.standing.set_model(Some(name.to_owned()));
        Ok(self.session.printer.line(&line)?)
    }
}

fn no_model() -> CommandError {
    CommandError::new(Ending::Usage, "no_model", NO_MODEL)
}

fn made(config: ModelConfig, setup: &Setup) -> Result<Model> {
    Model::new(config, &setup.env).map_err(|error| CommandError::from(&error))
}

/// `gpt-5 · OpenAI`, with the address where it is not the usual one.
fn about(config: &ModelConfig, model: &Model) -> String {
    // Where the name says whose it is, the format is that of somebody else.
    let provider = config.name.split_once("::").map_or(model.provider().name(), |(namespace, _)| namespace);
    let address = config.base_url.clone().map(|mut url| {
        let _had_password = url.set_username("").is_ok() && url.set_password(None).is_ok();
        format!(" · {url}")
    });
    visible::line(&format!("{} · {provider}{}", config.name, address.unwrap_or_default())).into_owned()
}
