//! What a line does: a command of the program on the servers of the session, one of the session itself, a prompt of a server, or a text for the model.

use std::io::Write as _;

use toolgate::Interest;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::policy::Mode;
use toolgate::rulebook::mode_of_run;

use super::line::{COMMANDS, Line, as_typed_here, find, joined, program_words};
use super::{After, Chat, stats};
use crate::args::{self, COMMON_OPTIONS, Options, Typed};
use crate::columns::{filled, width};
use crate::commands;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::record;

/// Clears a terminal, and puts the cursor at its beginning.
const CLEAR: &[u8] = b"\x1b[2J\x1b[3J\x1b[H";

impl Chat<'_> {
    /// Does what was typed. What goes wrong is told.
    pub(super) fn act(&mut self, typed: &str) -> After {
        let typed = joined(typed);
        let talk = self.session.printer.talk().clone();
        self.host.begins();
        talk.asks_again();
        let ended = match Line::of(&typed) {
            Line::Empty => Ok(Ending::Done),
            Line::Slash { name: "quit" | "exit", .. } => return After::Leave,
            Line::Slash { name, rest } => self.slash(name, rest),
            Line::Text(text) => self.say(text),
        };
        // Whatever a server still asks is about nothing that runs.
        talk.waits_no_more();
        talk.give_up_question();
        After::Next(ended.unwrap_or_else(|error| self.session.printer.report(&error)))
    }

    fn slash(&mut self, name: &str, rest: &str) -> Result<Ending> {
        match name {
            "" | "help" => self.help(rest.trim_start_matches('/')),
            "mode" => self.mode(rest),
            "model" => self.model(rest),
            "stats" => self.stats(),
            "clear" => self.clear(),
            name if find(name).is_some() => {
                let words = program_words(name, split(rest)?).unwrap_or_default();
                Ok(self.run(words))
            }
            name => self.prompt(name, rest),
        }
    }

    /// Runs a command of the program on the servers of the session.
    fn run(&mut self, words: Vec<String>) -> Ending {
        let changes_servers = matches!(words.first().map(String::as_str), Some("mcp" | "trust"));
        let typed = std::iter::once("toolgate".to_owned()).chain(words).map(Into::into);
        let ended = match args::parse(typed) {
            Typed::Run(cli) => match cli.command {
                Some(command) => commands::run(&mut self.session.for_line(cli.options), command),
                None => Ending::Done,
            },
            Typed::Show(text) => crate::printer::show(&as_typed_here(without_common_options(&text))),
            Typed::Wrong(text) => {
                as_typed_here(&text).trim_end().lines().for_each(|line| self.session.printer.talk().line(line));
                Ending::Usage
            }
            Typed::WrongForPrograms(error) => {
                let json = Options { json: true, ..Options::default() };
                self.session.for_line(json).printer.report(&error)
            }
        };
        if changes_servers {
            self.bring_up_to_date();
        }
        ended
    }

    /// Servers that were switched, added or logged in to are as they are meant to be from now on.
    fn bring_up_to_date(&self) {
        if let Ok(configured) = self.session.configured() {
            let admitted = configured.plan(Interest::ALL).admitted;
            tokio::runtime::Handle::current().block_on(self.host.bring_up_to_date(admitted));
        }
    }

    fn help(&mut self, about: &str) -> Result<Ending> {
        let about = about.trim();
        if let Some(command) = find(about).filter(|command| program_words(command.name, Vec::new()).is_some()) {
            return Ok(self.run(vec![command.name.to_owned(), "--help".to_owned()]));
        }
        if !about.is_empty() && !COMMANDS.iter().any(|command| command.name.contains(about)) {
            return self.prompt(about, "help");
        }
        let mut session = self.session.for_line(Options::default());
        let (printer, paint) = (&mut session.printer, self.session.printer.paint());
        let typed = |command: &super::line::SlashCommand| format!("/{} {}", command.name, command.takes);
        let columns = COMMANDS.iter().map(|command| width(&typed(command))).max().unwrap_or(0);
        for command in COMMANDS.iter().filter(|command| about.is_empty() || command.name.contains(about)) {
            let start = filled(&typed(command), columns);
            printer.line(&format!("{start}  {}", paint.dim(command.about)))?;
        }
        printer.line("")?;
        printer.line("/NAME        a prompt of a server, by its name; /NAME help says what it takes")?;
        printer.line("@FILE @SERVER:URI  in a text or prompt: what stands there goes with it")?;
        printer.line("Tab completes, ↑ and Ctrl-R look back, Alt-Enter or \\ at the end goes on in the next line")?;
        printer.flush()?;
        Ok(Ending::Done)
    }

    fn mode(&mut self, asked: &str) -> Result<Ending> {
        let asked = asked.trim();
        if asked.is_empty() {
            let mode = self.standing.mode();
            self.session.printer.line(mode.as_str())?;
            return Ok(self.session.printer.flush().map(|()| Ending::Done)?);
        }
        let mode = Mode::of(asked).ok_or_else(|| {
            let all = Mode::ALL.map(Mode::as_str).join(", ");
            CommandError::usage(format!("there is no mode `{asked}`")).hint(format!("there is {all}"))
        })?;
        let configured = self.session.configured()?;
        let setup = configured.setup();
        let in_force = mode_of_run(Some(mode), &setup.settings, &setup.folder)?;
        let before = self.standing.mode();
        self.session.set_mode(mode);
        self.standing.set_mode(in_force);
        if before != in_force {
            let change = PermissionChange::new(PermissionKind::Mode, "session").before(before.as_str());
            let change = change.after(in_force.as_str()).in_session(self.host.host().calls().session().to_string());
            record(self.session.env(), self.session.printer.talk(), &change);
        }
        self.session.printer.line(&format!("mode {}", in_force.as_str()))?;
        if in_force != mode {
            self.session.printer.talk().line("the folder is not trusted, so nothing more is let through");
        }
        Ok(self.session.printer.flush().map(|()| Ending::Done)?)
    }

    fn stats(&mut self) -> Result<Ending> {
        let mut session = self.session.for_line(Options::default());
        stats::print(&mut session.printer, self.host.host(), &self.standing, self.begun.elapsed())?;
        Ok(session.printer.flush().map(|()| Ending::Done)?)
    }

    fn clear(&mut self) -> Result<Ending> {
        if self.session.printer.terminal().stdout {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(CLEAR).and_then(|()| stdout.flush())?;
        }
        if let Some(conversation) = &mut self.conversation {
            conversation.clear();
        }
        Ok(Ending::Done)
    }
}

/// A help without the options that every command has: they are of the program, and were given when the session began.
fn without_common_options(help: &str) -> &str {
    help.split_once(&format!("\n{COMMON_OPTIONS}:")).map_or(help, |(own, _)| own)
}

/// The words of a line, quoted as in a shell.
fn split(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| CommandError::usage("a quote is open, or the line ends with a backslash"))
}
