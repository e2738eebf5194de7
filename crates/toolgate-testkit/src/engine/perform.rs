//! Carries out behaviours.

use serde_json::{Map, Value, json};
use std::time::Duration;

use crate::behaviour::Behaviour;
use crate::engine::dispatch::{Failure, Outcome};
use crate::engine::exchange::{Exchange, META_LOG_LEVEL};
use crate::engine::rounds::{self, Questions};

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What a behaviour came to: an answer, or the next behaviour.
enum Turn {
    Done(Outcome),
    Then(Behaviour),
}

/// One use of a tool, prompt, resource or method, while it runs.
struct Performance<'a> {
    exchange: &'a Exchange,
    target: &'a str,
    use_number: u64,
    reports: Vec<Value>,
}

/// Carries out `behaviour` for the request; `target` names what was asked for.
pub(crate) async fn perform(exchange: &Exchange, target: &str, behaviour: &Behaviour) -> Outcome {
    let start = match rounds::begin(exchange, target, behaviour) {
        Ok(start) => start,
        Err(outcome) => return outcome,
    };
    let use_number = exchange.server.count_use(target, u64::from(!start.is_retry));
    let mut performance = Performance { exchange, target, use_number, reports: start.reports };
    let mut current = start.behaviour;
    loop {
        match performance.turn(current).await {
            Turn::Done(outcome) => return outcome,
            Turn::Then(next) => current = next,
        }
    }
}

impl Performance<'_> {
    async fn turn(&mut self, behaviour: Behaviour) -> Turn {
        match behaviour {
            Behaviour::Never => std::future::pending().await,
            Behaviour::Turns(turns) => self.pick(turns),
            Behaviour::Delay { ms, then } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Turn::Then(*then)
            }
            Behaviour::Progress { count, every_ms, then } => {
                self.progress(count, Duration::from_millis(every_ms)).await;
                Turn::Then(*then)
            }
            Behaviour::Log { level, data, then } => {
                self.log(&level, &data);
                Turn::Then(*then)
            }
            Behaviour::Elicit { params, then } => self.ask("elicit", "elicitation/create", params, *then).await,
            Behaviour::Sample { params, then } => self.ask("sample", "sampling/createMessage", params, *then).await,
            Behaviour::Roots { then } => self.ask("roots", "roots/list", json!({}), *then).await,
            Behaviour::Ask { requests, state, then } => self.ask_all(requests, state, *then).await,
            Behaviour::Ping { then } => {
                if self.exchange.modern_version().is_none() {
                    self.reports.push(rounds::ask_one(self.exchange, &json!({"method": "ping"})).await);
                }
                Turn::Then(*then)
            }
            Behaviour::ListChanged { change, then } => {
                self.exchange.server.change(&change);
                Turn::Then(*then)
            }
            Behaviour::ResourceUpdated { uri, then } => {
                self.exchange.server.resource_updated(&uri);
                Turn::Then(*then)
            }
            Behaviour::EndSubscriptions { then } => {
                self.exchange.server.subscriptions.end();
                Turn::Then(*then)
            }
            Behaviour::Notify { method, params, then } => {
                self.exchange.notify(&method, params);
                Turn::Then(*then)
            }
            Behaviour::Batch { then } => {
                self.exchange.hold_back();
                Turn::Then(*then)
            }
            last => Turn::Done(self.answer(last)),
        }
    }

    /// The behaviours that answer at once.
    fn answer(&self, behaviour: Behaviour) -> Outcome {
        match behaviour {
            Behaviour::Reply(result) => Outcome::Result(result),
            Behaviour::Raw(text) => Outcome::Text(text),
            Behaviour::Error { code, message, data } => Outcome::Error(Failure { code, message, data, status: 200 }),
            Behaviour::Echo => {
                let message = self.exchange.params.pointer("/arguments/message");
                texts([message.and_then(Value::as_str).unwrap_or_default().to_owned()])
            }
            Behaviour::Big { bytes } => texts(["x".repeat(bytes)]),
            Behaviour::Count => texts([self.use_number.to_string()]),
            Behaviour::Params => texts([self.exchange.params.to_string()]),
            // `turn` handles the rest; a report is what is left to say after questions.
            _ => texts(self.reports.iter().map(Value::to_string)),
        }
    }

    fn pick(&self, turns: Vec<Behaviour>) -> Turn {
        let last = turns.len().saturating_sub(1);
        let wanted = usize::try_from(self.use_number - 1).unwrap_or(last).min(last);
        match turns.into_iter().nth(wanted) {
            Some(behaviour) => Turn::Then(behaviour),
            None => Turn::Done(Outcome::error(-32603, "the script gives no turns")),
        }
    }

    async fn progress(&self, count: u32, every: Duration) {
        let token = self.exchange.meta("progressToken").cloned();
        for number in 1..=count {
            tokio::time::sleep(every).await;
            if let Some(token) = &token {
                let params = json!({
                    "progressToken": token,
                    "progress": number,
                    "total": count,
                    "message": format!("step {number} of {count}"),
                });
                self.exchange.notify("notifications/progress", params);
            }
        }
    }

    fn log(&self, level: &str, data: &Value) {
        let rank = |name: &str| LEVELS.iter().position(|known| *known == name);
        let threshold = if self.exchange.modern_version().is_some() {
            match self.exchange.meta(META_LOG_LEVEL).and_then(Value::as_str) {
                Some(wanted) => rank(wanted),
                None => return,
            }
        } else {
            self.exchange.session.log_level.lock().as_deref().and_then(rank)
        };
        if rank(level) >= threshold {
            let params = json!({"level": level, "logger": "scripted", "data": data});
            self.exchange.notify("notifications/message", params);
        }
    }

    async fn ask(&mut self, key: &str, method: &str, params: Value, then: Behaviour) -> Turn {
        let mut requests = Map::new();
        requests.insert(key.to_owned(), json!({"method": method, "params": params}));
        let state = rounds::awkward_state(self.exchange.server.fresh_number());
        self.ask_all(requests, Some(state), then).await
    }

    async fn ask_all(&mut self, requests: Map<String, Value>, state: Option<String>, then: Behaviour) -> Turn {
        let questions = Questions { requests, state, then: &then };
        match rounds::ask(self.exchange, self.target, questions, &self.reports).await {
            Ok(answers) => {
                self.reports.extend(answers);
                Turn::Then(then)
            }
            Err(outcome) => Turn::Done(outcome),
        }
    }
}

fn texts(texts: impl IntoIterator<Item = String>) -> Outcome {
    let blocks = texts.into_iter().map(|text| json!({"type": "text", "text": text}));
    Outcome::Result(json!({"content": blocks.collect::<Vec<_>>()}))
}
