//! Prompts of servers as commands of the session, and what a text refers to: what the model gets besides what was typed, or the person sees without one.

use std::collections::BTreeMap;

use toolgate::DiscoveryState;
use toolgate::expose::SlashCommand;
use toolgate::registry::CatalogPrompt;
use toolgate_model::Input;

use super::Chat;
use super::line::similar;
use crate::args::Options;
use crate::arrival::explained;
use crate::commands::prompt::print;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::Interrupts;
use crate::said;

impl Chat<'_> {
    /// A prompt of a server, by its name.
    pub(super) fn prompt(&mut self, name: &str, rest: &str) -> Result<Ending> {
        let mut command = self.host.prompt(name);
        if command.is_none() {
            match self.host.prompts().into_iter().find(|command| command.is_own_name(name)) {
                Some(command) => self.wait_for_name(&command.prompt),
                None => self.wait_unless_looked_at(),
            }
            command = self.host.prompt(name);
        }
        let command = command.ok_or_else(|| self.no_command(name))?;
        match said::values(&command, rest, self.session.printer.talk())? {
            None => {
                let mut session = self.session.for_line(Options::default());
                session.printer.result(&command.help())?;
                Ok(session.printer.flush().map(|()| Ending::Done)?)
            }
            Some(values) => self.fill_in(&command, &values),
        }
    }

    /// Waits until a prompt can be given its own name: those servers that stand before its own have said what they have.
    fn wait_for_name(&self, prompt: &CatalogPrompt) {
        let (host, talk) = (self.host.host(), self.session.printer.talk());
        let named = explained(host, talk, host.find_prompt(&prompt.prompt.name));
        // Whoever does not want to wait is heard by what follows.
        let _is_stopped = stoppable(&self.host.interrupts(), async { Ok(named.await?) }).is_err();
    }

    /// Has the server fill a prompt in: for the model, or to be looked at where there is none.
    fn fill_in(&mut self, command: &SlashCommand, values: &BTreeMap<String, String>) -> Result<Ending> {
        let getting = self.host.host().get_prompt(&command.prompt, values);
        let result = stoppable(&self.host.interrupts(), async { Ok(getting.await?) })?;
        if self.standing.model().is_none() {
            let mut session = self.session.for_line(Options::default());
            let ended = print(&command.prompt, &result, &mut session.printer)?;
            return Ok(session.printer.flush().map(|()| ended)?);
        }
        self.ask(said::prompt(&result))
    }

    /// There is nothing of that name, or not yet.
    fn no_command(&self, name: &str) -> CommandError {
        let error = CommandError::usage(format!("there is no command `/{name}`"));
        let prompts = self.host.prompts();
        let error = match similar(name, prompts.iter().map(|command| &*command.name)).as_slice() {
            [] => error.hint("/help shows what there is to type"),
            names => error.hint(format!("did you mean `/{}`?", names.join("`, `/"))),
        };
        if self.host.host().discovery() == DiscoveryState::InProgress {
            error.hint("it may come from a server that is still starting; /mcp shows them")
        } else {
            error
        }
    }

    /// A text with what it refers to.
    pub(super) fn with_references(&self, text: &str) -> Result<Input> {
        let (talk, folder) = (self.session.printer.talk(), &self.session.env().workspace);
        stoppable(&self.host.interrupts(), said::text(self.host.host(), text, folder, talk))
    }
}

/// Waits for servers, unless the person stops it.
pub(super) fn stoppable<T>(interrupts: &Interrupts, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Handle::current().block_on(async {
        tokio::select! {
            done = work => done,
            () = interrupts.next() => Err(CommandError::interrupted()),
        }
    })
}
