//! The line that is typed at a terminal: keys, history, completion, and what happens when somebody presses Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reedline::{
    ColumnarMenu, EditCommand, Emacs, ExternalPrinter, HistoryItem, KeyCode, KeyModifiers, Keybindings,
    MenuBuilder as _, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use toolgate::shape::visible;

use super::ahead::{Ahead, typed_ahead};
use super::background::{self, Signs};
use super::keys::{Coloured, CompletesLive, EnteredLine, GoesOn, HarmlessPaste, Hints, PROMPT, PromptLine};
use super::live_offer::LiveOffer;
use super::model::NO_MODEL;
use super::{After, Chat, history};
use crate::echo::Echo;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::NEWS_LINES_MAX;
use crate::prompt::forget_keys;
use crate::talk::Typing;

/// The name of the menu.
const MENU: &str = "completion";

/// How often the line looks whether there is something to be shown above it.
const LOOK: Duration = Duration::from_millis(50);

/// Reads lines until the person leaves.
pub(super) fn run(chat: &mut Chat<'_>) -> Result<Ending> {
    let talk = chat.session.printer.talk().clone();
    let (signs, pause) = (Arc::new(Signs::default()), Arc::new(AtomicBool::new(false)));
    let (was_empty, was_edited) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let printer = ExternalPrinter::new(NEWS_LINES_MAX);
    let typing = Typing { above: printer.sender(), pause: pause.clone() };
    let mut editor = editor(chat, Coloured { is_empty: was_empty.clone(), is_edited: was_edited.clone() })
        .with_external_printer(printer)
        .with_break_signal(pause.clone());
    let repaint = editor.repaint_signal();
    background::start(chat, &signs, move || repaint.request_repaint());
    background::heed_signals(chat, &signs, &pause);
    // From here on keys wait in the terminal as they are pressed, for whoever reads them next.
    let _quiet = Echo::off();
    let prompt = PromptLine { standing: chat.standing.clone(), signs: signs.clone() };
    welcome(chat)?;
    if act_on_early(chat, &mut editor, &signs) == After::Leave {
        return Ok(Ending::Done);
    }
    let mut wants_to_leave = false;
    loop {
        talk.somebody_types(typing.clone());
        was_edited.store(false, Ordering::Relaxed);
        let read = editor.read_line(&prompt);
        talk.nobody_types();
        if signs.leave.load(Ordering::Relaxed) {
            return Ok(Ending::Stopped);
        }
        // Whoever typed something in between did not mean to leave.
        wants_to_leave = wants_to_leave && !was_edited.load(Ordering::Relaxed);
        match read.map_err(|error| CommandError::from(std::io::Error::other(error)))? {
            Signal::Success(line) => {
                wants_to_leave = false;
                let _kept = editor.sync_history().is_ok();
                if act(chat, &line) == After::Leave {
                    return Ok(Ending::Done);
                }
            }
            Signal::CtrlC if wants_to_leave && was_empty.load(Ordering::Relaxed) => return Ok(Ending::Done),
            Signal::CtrlC => {
                wants_to_leave = was_empty.load(Ordering::Relaxed);
                if wants_to_leave {
                    talk.line("(Ctrl-C again, Ctrl-D or /quit leaves)");
                }
            }
            Signal::CtrlD => return Ok(Ending::Done),
            // Somebody had to be asked something; what was typed is still there.
            _ => {}
        }
        if signs.leave.load(Ordering::Relaxed) {
            return Ok(Ending::Stopped);
        }
    }
}

/// Does what was typed. What is typed meanwhile is run afterwards, unless the person stops what runs.
fn act(chat: &mut Chat<'_>, line: &str) -> After {
    let after = chat.act(line);
    chat.session.printer.talk().nobody_asks();
    if chat.host.is_stopped() {
        forget_keys();
    }
    after
}

/// Does what was typed before there was a line to type it on.
fn act_on_early(chat: &mut Chat<'_>, editor: &mut Reedline, signs: &Signs) -> After {
    let Ahead { lines, beginning } = typed_ahead();
    let talk = chat.session.printer.talk().clone();
    for line in lines {
        // What runs now needs the servers that are otherwise started when the prompt stands.
        signs.draws();
        talk.line(&format!("{PROMPT}{}", visible::line(&line)));
        if !line.is_empty() && !line.starts_with(' ') {
            let _kept = editor.history_mut().save(HistoryItem::from_command_line(&line)).is_ok();
        }
        if act(chat, &line) == After::Leave {
            return After::Leave;
        }
        if signs.leave.load(Ordering::Relaxed) || chat.host.is_stopped() {
            return After::Next(Ending::Stopped);
        }
    }
    if !beginning.is_empty() {
        editor.run_edit_commands(&[EditCommand::InsertString(visible::text(&beginning).into_owned())]);
    }
    After::Next(Ending::Done)
}

fn editor(chat: &Chat<'_>, coloured: Coloured) -> Reedline {
    let colours = chat.session.printer.terminal().colours;
    let offer = || LiveOffer::new(chat.standing.clone(), chat.session.env().workspace.to_path_buf());
    let menu = ColumnarMenu::default().with_name(MENU).with_marker(PROMPT);
    Reedline::create()
        .with_history(Box::new(history::open(&chat.session.env().dirs.user)))
        // What begins with a blank is not kept.
        .with_history_exclusion_prefix(Some(" ".to_owned()))
        .with_edit_mode(Box::new(HarmlessPaste(Emacs::new(keys()))))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_completer(Box::new(CompletesLive(offer())))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_hinter(Box::new(Hints::new(offer(), colours)))
        .with_highlighter(Box::new(coloured))
        .with_validator(Box::new(GoesOn))
        .with_transient_prompt(Box::new(EnteredLine))
        .with_ansi_colors(colours)
        .use_bracketed_paste(true)
        .with_poll_interval(LOOK)
}

fn keys() -> Keybindings {
    let mut keys = default_emacs_keybindings();
    let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let next_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, next_line);
    // An Enter that was pressed a moment before the line was there.
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), ReedlineEvent::Enter);
    keys
}

fn welcome(chat: &mut Chat<'_>) -> Result<()> {
    let paint = chat.session.printer.paint();
    let about = concat!("toolgate ", env!("CARGO_PKG_VERSION"));
    chat.session.printer.line(&format!(
        "{} {}",
        paint.bold(about),
        paint.dim("· /help shows what there is to type")
    ))?;
    if chat.standing.model().is_none() {
        chat.session.printer.line(&paint.dim(NO_MODEL).to_string())?;
    }
    Ok(chat.session.printer.flush()?)
}
