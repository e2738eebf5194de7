//! `toolgate -p`: one thing is said to the model, which uses the tools by itself until it is done. Nobody is asked anything.

mod shown;

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::sync::{Notify, mpsc};
use toolgate::expose::SlashCommands;
use toolgate::results::ResultStore;
use toolgate::shape::visible;
use toolgate::trust::AdmittedServers;
use toolgate::{CallRules, Host, HostEnv, Interest, ServerView};
use toolgate_model::{Conversation, Input, InputPart, Model, ModelConfig, TurnEnd, TurnReport};

use self::shown::Shown;
use crate::arrival::{all_settled, enough_for_a_model};
use crate::call_rules;
use crate::chat::line::{Line, command_names};
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::Interrupts;
use crate::limits::{PIPE_SILENCE_MS, PIPED_BYTES_MAX};
use crate::printer::Printer;
use crate::said;
use crate::session::{self, Session};
use crate::trouble::Troubles;

/// What is said to the model, and how its answer is wanted.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Asking a model")]
pub(crate) struct Arguments {
    /// Have the model of your settings do this with the tools, and print its answer; what stands in stdin is added
    #[arg(short = 'p', long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// How the answer is printed: text, json (one object) or stream-json (one object for everything that happens)
    #[arg(long, value_name = "FORMAT", value_enum, requires = "prompt", hide_possible_values = true)]
    output_format: Option<OutputFormat>,
}

/// How the answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer alone.
    #[default]
    Text,
    /// One object.
    Json,
    /// One object for everything that happens.
    StreamJson,
}

impl Arguments {
    /// Whether something is said to a model.
    pub(crate) const fn is_given(&self) -> bool {
        self.prompt.is_some()
    }

    /// Whether a program reads the answer.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.output_format.is_some_and(|format| format != OutputFormat::Text)
    }
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    if let Line::Slash { name, .. } = Line::of(arguments.prompt.as_deref().unwrap_or_default()) {
        refuse_command(name)?;
    }
    let configured = session.configured()?;
    let only = session.options().server.clone();
    let servers = configured.chosen(only.as_deref())?;
    let format = match arguments.output_format {
        None if session.options().json => OutputFormat::Json,
        format => format.unwrap_or_default(),
    };
    let asking = Asking {
        prompt: arguments.prompt.clone().unwrap_or_default(),
        format,
        env: configured.setup().env.clone(),
        troubles: Troubles::new(session, only.is_some()),
        interrupts: session.interrupts(),
        configured: &configured,
    };
    let rules = call_rules::for_calls(session, configured.setup())?;
    let results = Some(Arc::new(ResultStore::new(&asking.env)));
    let plan = configured.plan(Interest::ALL).with_memory().starting(&servers);
    let plan = plan.with(CallRules { results, ..rules }).borrowing(session::lender());
    session.with_host(&plan, async |host, printer| asking.go(host, servers, printer).await)
}

/// What belongs to the session is no prompt of a server.
fn refuse_command(name: &str) -> Result<()> {
    if !command_names().contains(&name) {
        return Ok(());
    }
    let error = CommandError::usage(format!("`/{name}` is a command of the session, and nothing to say to a model"));
    Err(error.hint("`toolgate` alone begins a session; `toolgate --help` names the commands of the program"))
}

/// One run of the command.
struct Asking<'a> {
    prompt: String,
    format: OutputFormat,
    env: Arc<HostEnv>,
    troubles: Troubles,
    interrupts: Interrupts,
    configured: &'a Configured,
}

impl Asking<'_> {
    async fn go(&self, host: &Host, servers: AdmittedServers, printer: &mut Printer) -> Result<Ending> {
        let model = model(self.configured, &self.env).await?;
        host.start(servers);
        let piped = if printer.terminal().stdin { String::new() } else { piped(printer).await? };
        enough_for_a_model(host, printer.talk()).await;
        let views: Vec<ServerView> = host.servers().into_iter().filter(|view| view.is_settled).collect();
        self.troubles.tell_all(&views, printer.talk());
        // A server that was asked for by its name has to be there; without the others there is less to work with.
        self.troubles.judge(&views).map(drop)?;
        let Some(input) = self.input(host, &piped, printer).await? else { return Ok(Ending::Done) };
        let place = format!("The person works in the folder {}.", self.env.workspace.display());
        let name = model.name().to_owned();
        let search = self.configured.setup().settings.tool_search();
        let conversation = Conversation::new(model).with_context(place).with_search(search);
        printer.talk().begins();
        let mut shown = Shown::new(self.format, printer);
        shown.begin(&name)?;
        let report = self.turn(conversation, host, input, &mut shown).await?;
        let failure = failure(&report);
        shown.end(&report, failure.as_ref())?;
        match failure {
            None => Ok(Ending::Done),
            Some(failure) if self.format == OutputFormat::Text => Err(failure),
            Some(failure) => Ok(failure.ending()),
        }
    }

    /// What is said: the prompt with what it refers to, or the prompt of a server that it names, and what stands in stdin. Nothing, when the help of a
    /// prompt was wanted, which is printed.
    async fn input(&self, host: &Host, piped: &str, printer: &mut Printer) -> Result<Option<Input>> {
        let (typed, piped) = (self.prompt.trim_end(), piped.trim_end());
        if typed.trim().is_empty() && piped.trim().is_empty() {
            return Err(CommandError::usage("there is nothing to say: the prompt is empty"));
        }
        let mut input = match Line::of(typed) {
            Line::Empty => Input { parts: Vec::new() },
            Line::Text(_) => said::text(host, typed, &self.env.workspace, printer.talk()).await?,
            Line::Slash { name, rest } => match self.command(host, name, rest, printer).await? {
                Spoken::Input(input) => input,
                Spoken::Shown => return Ok(None),
            },
        };
        match input.parts.as_mut_slice() {
            _ if piped.trim().is_empty() => {}
            // What is piped in is data: nothing in it refers to anything.
            [InputPart::Text(only)] => only.push_str(&format!("\n\n{piped}")),
            _ => input.parts.push(InputPart::Text(piped.to_owned())),
        }
        Ok(Some(input))
    }

    /// A prompt of a server, by its name. What no server has is a text like any other.
    async fn command(&self, host: &Host, name: &str, rest: &str, printer: &mut Printer) -> Result<Spoken> {
        let mut commands = SlashCommands::default();
        let _renamed = commands.follow(&host.catalog(), &command_names());
        if commands.find(name).is_none() {
            // A server that is still starting may have it, or a better claim to its name.
            all_settled(host, printer.talk()).await;
            let _renamed = commands.follow(&host.catalog(), &command_names());
        }
        let Some(command) = commands.find(name) else {
            let line = format!("no server has a prompt `/{name}`; it is said to the model as it stands");
            printer.talk().line(&visible::line(&line));
            return Ok(Spoken::Input(
                said::text(host, self.prompt.trim_end(), &self.env.workspace, printer.talk()).await?,
            ));
        };
        let Some(values) = said::values(command, rest, printer.talk())? else {
            printer.result(&command.help())?;
            return Ok(Spoken::Shown);
        };
        Ok(Spoken::Input(said::prompt(&host.get_prompt(&command.prompt, &values).await?)))
    }

    /// Works until the model is done, showing what happens. Whoever stops reading has the model stop.
    async fn turn(
        &self,
        mut conversation: Conversation,
        host: &Host,
        input: Input,
        shown: &mut Shown<'_>,
    ) -> Result<TurnReport> {
        let (tell, mut told) = mpsc::unbounded_channel();
        let events = move |event| {
            // Whoever shows it is gone only when all is over.
            let _heard = tell.send(event).is_ok();
        };
        let nobody_reads = Notify::new();
        let cancel = async {
            tokio::select! {
                () = self.interrupts.next() => {}
                () = nobody_reads.notified() => {}
            }
        };
        let mut failed = None;
        let report = {
            let mut turn = std::pin::pin!(conversation.turn(host, input, &events, cancel));
            loop {
                tokio::select! {
                    biased;
                    Some(event) = told.recv() => if let Err(error) = shown.show(&event) {
                        failed.get_or_insert(error);
                        nobody_reads.notify_one();
                    },
                    report = &mut turn => break report,
                }
            }
        };
        while let Ok(event) = told.try_recv() {
            shown.show(&event)?;
        }
        failed.map_or(Ok(report), |error| Err(error.into()))
    }
}

/// What became of a command.
enum Spoken {
    /// This is said.
    Input(Input),
    /// What was wanted stands there.
    Shown,
}

/// The model of the settings.
async fn model(configured: &Configured, env: &HostEnv) -> Result<Model> {
    let Some(config) =
        ModelConfig::read(&configured.setup().settings, env).await.map_err(|error| CommandError::from(&error))?
    else {
        let error = CommandError::new(Ending::Usage, "no_model", "no model is configured");
        return Err(error.hint(
            "write `\"model\": {\"name\": \"gemini-…\"}` (or `gpt-…`, `claude-…`, `ollama::…`) into your settings, and set the \
             variable with its key, such as GEMINI_API_KEY",
        ));
    };
    Model::new(config, env).map_err(|error| CommandError::from(&error))
}

/// What stands in stdin. Whoever forgot that something is connected to it is told.
async fn piped(printer: &Printer) -> Result<String> {
    let mut reading = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(PIPED_BYTES_MAX + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let read = match tokio::time::timeout(Duration::from_millis(PIPE_SILENCE_MS), &mut reading).await {
        Ok(read) => read,
        Err(_) => {
            printer
                .talk()
                .line("waiting for the end of stdin, which is added to the prompt; `< /dev/null` does without");
            reading.await
        }
    };
    let unreadable = |why: String| CommandError::usage(format!("cannot read stdin: {why}"));
    let bytes = read.map_err(|gone| unreadable(gone.to_string()))?.map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > PIPED_BYTES_MAX {
        return Err(CommandError::usage(format!("stdin is larger than {PIPED_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| CommandError::usage("what stands in stdin is not UTF-8 text"))
}

/// Why the answer is not what was asked for.
fn failure(report: &TurnReport) -> Option<CommandError> {
    match &report.end {
        TurnEnd::Done => None,
        TurnEnd::CutShort(why) => {
            Some(CommandError::new(Ending::Model, "model_cut_short", format!("the answer is not whole: {why}")))
        }
        TurnEnd::TurnLimit(turns) => {
            let message = format!("the model went on by itself {turns} times, and was stopped");
            Some(CommandError::new(Ending::Model, "turn_limit", message).hint("`model.maxTurns` lets it go on longer"))
        }
        TurnEnd::Cancelled => Some(CommandError::interrupted()),
        TurnEnd::Failed(error) => Some(CommandError::from(error)),
    }
}
