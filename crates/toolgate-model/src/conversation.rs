//! `Conversation`: a model, what was said so far, and the work on one input of the person: ask, call what is asked for, tell what came of it, and
//! ask again, until the model has nothing more to call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream;
use genai::chat::ChatRequest;
use toolgate::settings::ToolSearchSettings;
use toolgate::{Catalog, Host};

use crate::answer::{Answer, AskedCall, Ending, Piece};
use crate::declare::Quarantined;
use crate::error::{ModelError, ModelErrorKind};
use crate::event::{CANCELLED, CallEnding, CallNews, TurnEnd, TurnEvent, TurnEvents, TurnReport};
use crate::history::{History, Told};
use crate::input::Input;
use crate::limits::{CALLS_AT_ONCE_MAX, CALLS_PER_ANSWER_MAX};
use crate::model::Model;
use crate::offer::{LastOffer, Offer, Offering};
use crate::own_function::OwnFunction;
use crate::read_result::ReadResult;
use crate::resource_function::ResourceFunction;
use crate::system;
use crate::tool_use::ToolUse;
use crate::usage::TokenUsage;

/// What a provider says about an answer whose call it could not read itself.
const MALFORMED_CALL: &str = "MALFORMED_FUNCTION_CALL";

/// A model and what was said so far.
pub struct Conversation {
    model: Model,
    history: History,
    context: String,
    functions: Vec<Arc<dyn OwnFunction>>,
    search: ToolSearchSettings,
    last_offer: LastOffer,
    usage: TokenUsage,
    context_tokens: u64,
    calls_asked: u64,
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("model", &self.model)
            .field("messages", &self.history.len())
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

impl Conversation {
    /// A conversation in which nothing was said yet.
    #[must_use]
    pub fn new(model: Model) -> Self {
        Self {
            model,
            history: History::default(),
            context: String::new(),
            functions: Vec::new(),
            search: ToolSearchSettings::default(),
            last_offer: LastOffer::default(),
            usage: TokenUsage::default(),
            context_tokens: 0,
            calls_asked: 0,
        }
    }

    /// What the model is told besides, such as where the person works.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }

    /// One more function that is offered and answered here.
    #[must_use]
    pub fn with_function(mut self, function: Arc<dyn OwnFunction>) -> Self {
        self.functions.push(function);
        self
    }

    /// When tools are searched for instead of being in view.
    #[must_use]
    pub fn with_search(mut self, search: ToolSearchSettings) -> Self {
        self.search = search;
        self
    }

    /// The tools that the provider could not be told about in the last request, and why.
    #[must_use]
    pub fn quarantined(&self) -> &[Quarantined] {
        self.last_offer.quarantined()
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Goes on with another model. What was said stays, but for what it cannot read: thoughts of the one before, and pictures where it takes
    /// none. How many pictures those are.
    pub fn set_model(&mut self, model: Model) -> usize {
        self.model = model;
        self.history.for_another_model(&self.model)
    }

    /// Forgets what was said. What it cost is still counted.
    pub fn clear(&mut self) {
        self.history.clear();
        self.context_tokens = 0;
    }

    /// How many messages there are.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.history.len()
    }

    /// What all answers have cost.
    #[must_use]
    pub const fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// Tokens of the last request and its answer: what the model has in view.
    #[must_use]
    pub const fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    /// Works on one input of the person to its end. `cancel` gives it up: the stream ends, and calls are cancelled at their servers. What was said
    /// until then stays. So it does when the future is dropped, but for the step that was under way.
    pub async fn turn(
        &mut self,
        host: &Host,
        input: Input,
        events: &TurnEvents<'_>,
        cancel: impl Future<Output = ()> + Send,
    ) -> TurnReport {
        let before = self.history.len();
        self.history.ask(if self.model.takes_images() { input } else { input.without_data() });
        let cancel = std::pin::pin!(cancel);
        let mut work = Work {
            conversation: self,
            host,
            events,
            cancel: Cancel { wanted: cancel, is_wanted: false },
            report: empty_report(),
        };
        let end = work.go().await;
        let mut report = work.report;
        report.end = end;
        // What got no answer at all was not said.
        self.history.forget_unanswered(before);
        report
    }
}

fn empty_report() -> TurnReport {
    let usage = TokenUsage::default();
    TurnReport { end: TurnEnd::Done, text: String::new(), turns: 0, requests: 0, calls: 0, failed_calls: 0, usage }
}

/// What is answered here: what a front end added, what reads results that were kept, and resources while there are any.
fn own_functions(added: &[Arc<dyn OwnFunction>], host: &Host, catalog: &Catalog) -> Vec<Arc<dyn OwnFunction>> {
    let mut own = added.to_vec();
    own.extend(ResourceFunction::all(catalog).map(|function| Arc::new(function) as Arc<dyn OwnFunction>));
    own.extend(host.calls().results().map(|store| Arc::new(ReadResult::new(store.clone())) as Arc<dyn OwnFunction>));
    own
}

/// Whether somebody has given it up.
struct Cancel<'a> {
    wanted: Pin<&'a mut (dyn Future<Output = ()> + Send)>,
    is_wanted: bool,
}

impl Cancel<'_> {
    /// Comes back when it is wanted. Whoever asks again need not wait.
    async fn wanted(&mut self) {
        if !self.is_wanted {
            self.wanted.as_mut().await;
            self.is_wanted = true;
        }
    }
}

/// Work on one input.
struct Work<'a> {
    conversation: &'a mut Conversation,
    host: &'a Host,
    events: &'a TurnEvents<'a>,
    cancel: Cancel<'a>,
    report: TurnReport,
}

impl Work<'_> {
    async fn go(&mut self) -> TurnEnd {
        let most = self.conversation.model.max_turns();
        for number in 1..=most {
            // What servers offer may change from one request to the next.
            let catalog = self.host.catalog();
            let conversation = &mut *self.conversation;
            let own = own_functions(&conversation.functions, self.host, &catalog);
            let (provider, search) = (conversation.model.provider(), conversation.search.clone());
            let offering = Offering { host: self.host, catalog: &catalog, provider, own: &own, search: &search };
            let offer = offering.make(&mut conversation.last_offer);
            self.report.turns = number;
            let answer = match self.ask(&catalog, &offer, number).await {
                Ok(answer) => answer,
                Err(end) => return end,
            };
            self.report.text.clone_from(&answer.text);
            if answer.calls.is_empty() {
                match self.said(answer) {
                    Some(end) => return end,
                    None => continue,
                }
            }
            self.use_tools(&catalog, &offer, answer).await;
            if self.cancel.is_wanted {
                return TurnEnd::Cancelled;
            }
        }
        TurnEnd::TurnLimit(most)
    }

    /// The model calls nothing: it is done, or it has to say it again.
    fn said(&mut self, answer: Answer) -> Option<TurnEnd> {
        let Answer { text, message, ending, .. } = answer;
        let history = &mut self.conversation.history;
        if !text.is_empty() {
            history.answer(message);
            return Some(match ending {
                Ending::Whole => TurnEnd::Done,
                Ending::TooLong => TurnEnd::CutShort("the answer is as long as the provider lets it be".to_owned()),
                Ending::Other(reason) => TurnEnd::CutShort(format!("the provider ended the answer: {reason}")),
            });
        }
        let why = match ending {
            Ending::Other(reason) if reason == MALFORMED_CALL => {
                history.note("[Your call could not be read: it was malformed. Make it again, with arguments that fit the schema.]");
                return None;
            }
            Ending::Whole => String::new(),
            Ending::TooLong => ": it is as long as the provider lets it be".to_owned(),
            Ending::Other(reason) => format!(": {reason}"),
        };
        let error = ModelError::new(ModelErrorKind::Unusable, format!("the model gave an empty answer{why}"));
        Some(TurnEnd::Failed(error))
    }

    /// Asks until there is an answer, or nobody expects one any more.
    async fn ask(&mut self, catalog: &Catalog, offer: &Offer<'_>, number: u32) -> Result<Answer, TurnEnd> {
        let conversation = &mut *self.conversation;
        let tools = offer.declared();
        let mut request = ChatRequest::new(conversation.history.messages().to_vec())
            .with_system(system::text(catalog, &conversation.context));
        if !tools.is_empty() {
            request = request.with_tools(tools);
        }
        let mut attempt = 0;
        loop {
            self.report.requests += 1;
            (self.events)(TurnEvent::Asked { number });
            let mut shown = String::new();
            let mut is_shown = false;
            let events = self.events;
            let asking = conversation.model.ask(request.clone(), |piece| {
                is_shown = true;
                match piece {
                    Piece::Text(text) => {
                        shown.push_str(text);
                        events(TurnEvent::Text(text.to_owned()));
                    }
                    Piece::Thinking(text) => events(TurnEvent::Thinking(text.to_owned())),
                }
            });
            let asked = tokio::select! {
                biased;
                () = self.cancel.wanted() => None,
                asked = asking => Some(asked),
            };
            let trouble = match asked {
                None => {
                    self.report.text.clone_from(&shown);
                    conversation.history.answer_in_part(shown);
                    return Err(TurnEnd::Cancelled);
                }
                Some(Ok(answer)) => {
                    conversation.usage += answer.usage;
                    conversation.context_tokens = answer.usage.total();
                    self.report.usage += answer.usage;
                    let (text, calls, usage) = (answer.text.clone(), answer.calls.len(), answer.usage);
                    events(TurnEvent::Answered { text, calls, usage });
                    return Ok(answer);
                }
                Some(Err(trouble)) => trouble,
            };
            let Some(wait) = trouble.wait(conversation.model.retry(), attempt, jitter()) else {
                return Err(TurnEnd::Failed(trouble.error));
            };
            attempt += 1;
            events(TurnEvent::Retry { attempt, wait, error: trouble.error, discards: is_shown });
            tokio::select! {
                biased;
                () = self.cancel.wanted() => return Err(TurnEnd::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Runs all calls of an answer, several at once, and tells what came of them in their order.
    async fn use_tools(&mut self, catalog: &Catalog, offer: &Offer<'_>, answer: Answer) {
        let model = &self.conversation.model;
        let tool_use = ToolUse {
            host: self.host,
            catalog,
            offer,
            events: self.events,
            takes_images: model.takes_images(),
            result_chars_max: model.result_chars_max(),
        };
        let mut results: Vec<Option<Told>> = vec![None; answer.calls.len()];
        let within: Vec<(usize, &AskedCall)> = answer.calls.iter().enumerate().take(CALLS_PER_ANSWER_MAX).collect();
        let asked = self.conversation.calls_asked;
        let news = |(index, call): (usize, &AskedCall)| {
            let id = format!("{}", asked + index as u64 + 1);
            let arguments = call.arguments.clone().unwrap_or_default();
            Arc::new(CallNews { id, name: call.name.clone(), arguments })
        };
        let news: Vec<Arc<CallNews>> = within.iter().copied().map(news).collect();
        news.iter().for_each(|news| (self.events)(TurnEvent::CallAsked(news.clone())));
        let running = within.iter().zip(&news).map(|((index, call), news)| {
            let (index, tool_use) = (*index, &tool_use);
            async move { (index, tool_use.run(call, news).await) }
        });
        let mut running = stream::iter(running).buffer_unordered(CALLS_AT_ONCE_MAX);
        let (mut failed, started) = (0, Instant::now());
        loop {
            let ended = tokio::select! {
                biased;
                ended = running.next() => ended,
                () = self.cancel.wanted() => None,
            };
            let Some((index, (told, is_error))) = ended else { break };
            failed += u32::from(is_error);
            if let Some(place) = results.get_mut(index) {
                *place = Some(told);
            }
        }
        // What still runs is cancelled at its server, and what was asked for has an end.
        drop(running);
        for (news, _) in news.iter().zip(&results).filter(|(_, told)| told.is_none()) {
            failed += 1;
            let ending = CallEnding::cancelled(started.elapsed());
            (self.events)(TurnEvent::CallEnded(news.clone(), ending));
        }
        self.conversation.calls_asked += news.len() as u64;
        self.report.calls += u32::try_from(news.len()).unwrap_or(u32::MAX);
        self.report.failed_calls += failed;
        let too_many =
            format!("The call was not made: an answer may have {CALLS_PER_ANSWER_MAX} calls. Make it again.");
        let told = answer.calls.into_iter().zip(results).enumerate().map(|(index, (call, told))| {
            let otherwise = if index < CALLS_PER_ANSWER_MAX { CANCELLED.to_owned() } else { too_many.clone() };
            (call, told.unwrap_or_else(|| otherwise.into()))
        });
        self.conversation.history.exchange(answer.message, told.collect());
    }
}

/// Between 0 and 1. Without randomness those who failed together come back together, which is a pity and no more.
fn jitter() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}
