//! What goes on while somebody types: servers start, their news is told, settings are followed, and signals end the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGINT;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use toolgate::{HostEnv, LiveSettings, SetupOptions};

use super::{Chat, LastingHost, news};
use crate::echo;
use crate::error::CommandError;
use crate::exit_code::Ending;
use crate::interrupt::heeded;
use crate::limits::LEAVING_MS;
use crate::talk::Talk;

/// When the first prompt stands, and when the session has to end.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The first prompt has been drawn.
    pub(super) first_prompt: Notify,
    is_drawn: AtomicBool,
    /// Somebody outside wants the session to end.
    pub(super) leave: AtomicBool,
}

impl Signs {
    /// The prompt is being drawn.
    pub(super) fn draws(&self) {
        if !self.is_drawn.swap(true, Ordering::Relaxed) {
            self.first_prompt.notify_one();
        }
    }
}

/// Starts the servers at once, for somebody who does not look on.
pub(super) fn start_now(chat: &Chat<'_>) {
    chat.host.host().start(chat.servers.clone());
}

/// Starts everything once the first prompt stands: until then nothing may keep it from being drawn.
pub(super) fn start(chat: &Chat<'_>, signs: &Arc<Signs>, repaint: impl Fn() + Send + 'static) {
    let (host, servers, signs) = (chat.host.clone(), chat.servers.clone(), signs.clone());
    let talk = chat.session.printer.talk().clone();
    let follows = chat.session.options().server.is_none();
    let (env, options) = (chat.session.env().clone(), chat.session.setup_options());
    tokio::spawn(async move {
        signs.first_prompt.notified().await;
        let events = host.host().events();
        host.host().start(servers);
        repaint();
        tokio::spawn(news::tell(host.clone(), events, talk.clone(), repaint));
        if follows {
            tokio::spawn(follow(host, talk, env, options));
        }
    });
}

/// Ends the session when the terminal is closed, or whoever supervises us wants it; a line that is typed ends first.
pub(super) fn heed_signals(chat: &Chat<'_>, signs: &Arc<Signs>, pause: &Arc<AtomicBool>) {
    for number in heeded().filter(|number| *number != SIGINT) {
        let (host, signs, pause) = (chat.host.clone(), signs.clone(), pause.clone());
        let before = echo::terminal();
        // From this line on it does not end the process by itself.
        let Ok(mut signals) = signal(SignalKind::from_raw(number)) else { continue };
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                signs.leave.store(true, Ordering::Relaxed);
                pause.store(true, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(LEAVING_MS)).await;
                before.iter().for_each(echo::restore);
                leave(&host).await;
            }
        });
    }
}

/// Ends a session that reads lines when somebody outside wants it; while a line runs, that is stopped first. Ctrl-C at a terminal ends only the
/// line that runs, when there is one. Turned on when no other line is to be run.
pub(super) fn leave_on_signals(chat: &Chat<'_>, is_waiting: &Arc<AtomicBool>) -> Arc<AtomicBool> {
    let leaves = Arc::new(AtomicBool::new(false));
    let is_typed = chat.session.printer.terminal().stdin;
    for number in heeded() {
        let (host, leaves, is_waiting) = (chat.host.clone(), leaves.clone(), is_waiting.clone());
        // From this line on it does not end the process by itself.
        let Ok(mut signals) = signal(SignalKind::from_raw(number)) else { continue };
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                // The next line is another matter.
                if number == SIGINT && is_typed && !is_waiting.load(Ordering::SeqCst) {
                    continue;
                }
                leaves.store(true, Ordering::SeqCst);
                if !is_waiting.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(LEAVING_MS)).await;
                }
                leave(&host).await;
            }
        });
    }
    leaves
}

/// Ends the process, once its servers have ended. Whoever reads from a terminal that is gone goes on reading for ever, and cannot be told.
#[expect(clippy::exit, reason = "the thread that would return from `main` does not come back")]
async fn leave(host: &LastingHost) {
    host.host().shutdown().await;
    std::process::exit(Ending::Stopped.code().into());
}

/// Follows the settings. What cannot be used is told, and what was in force stays so.
async fn follow(host: Arc<LastingHost>, talk: Arc<Talk>, env: HostEnv, options: SetupOptions) {
    let read = tokio::task::spawn_blocking(move || LiveSettings::read(env, options)).await;
    let Ok(Ok(mut live)) = read else { return };
    loop {
        live.changed().await;
        live.options_mut().disabled_for_session = host.switched_off();
        if let Err(error) = live.reload(host.host()).await {
            talk.error(&CommandError::from(error));
        }
    }
}
