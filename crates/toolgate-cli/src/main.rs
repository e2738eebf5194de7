//! The `toolgate` program: parse, run, exit.

mod args;
mod exit_code;

mod session;

mod commands;

mod chat;

mod call_rules;
mod configured;
mod kept_revision;
mod permission_record;
mod said;
mod similar;
mod trouble;
mod unmatched;

mod arrival;
mod listing;
mod rule_text;
mod tool_reasons;
mod tool_text;

mod front_end;
mod login;

mod ask;
mod confirm;
mod form;
mod prompt;
mod question;
mod survey_text;
mod trust_question;

mod runtime;

mod interrupt;
mod log_file;
mod printer;
mod talk;
mod warnings;
mod wire_tap;

mod columns;
mod echo;
mod json;
mod terminal;

mod error;
mod limits;

use std::io::Write as _;
use std::process::ExitCode;

use crate::args::Typed;
use crate::exit_code::Ending;
use crate::session::Session;

fn main() -> ExitCode {
    if session::is_asked_by_shell() {
        return commands::completions::answer_shell();
    }
    interrupt::survive_file_limit();
    if let Some(ended) = runtime::client::run_there() {
        return ended;
    }
    match args::parse(session::words()) {
        Typed::Run(cli) => {
            let mut session = Session::new(cli.options);
            if let Err(error) = session.begin_log() {
                return session.printer.report(&error).into();
            }
            warnings::shown_on(session.printer.talk());
            match cli.command {
                Some(command) => commands::run(&mut session, command).into(),
                None => commands::session(&mut session).into(),
            }
        }
        Typed::Show(text) => printer::show(&text).into(),
        Typed::Wrong(text) => {
            let _said = std::io::stderr().lock().write_all(text.as_bytes()).is_ok();
            Ending::Usage.into()
        }
        Typed::WrongForPrograms(error) => Session::for_programs().printer.report(&error).into(),
    }
}
