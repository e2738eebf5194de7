//! `Subject`: what rules are held against, a call or one simple command of it, with what is worked out of it at most once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::facts::CallFacts;
use super::spellings::Spellings;
use crate::canonical_json;
use crate::filter::Arguments;
use crate::servers::built_in_tools::{renamed, under_all_names};
use crate::shell::{Script, SimpleCommand};

/// What rules are held against.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    /// The call; for one simple command, the call with that command.
    pub(super) facts: CallFacts<'a>,
    /// The simple command, when it is about one.
    pub(super) command: Option<&'a SimpleCommand>,
    /// The names by which a restriction knows its tool.
    pub(super) spellings: Spellings<'a>,
    marked: OnceCell<String>,
    readings: OnceCell<Vec<Value>>,
    marked_readings: OnceCell<Vec<String>>,
    under_all_names: OnceCell<Option<Value>>,
    marked_renamed: OnceCell<Vec<String>>,
    /// The texts that a command holds, by where the command is: its commands live as long as the call.
    held_texts: RefCell<HashMap<*const SimpleCommand, Rc<[String]>>>,
}

impl<'a> Subject<'a> {
    /// A whole call.
    pub(super) fn call(facts: &CallFacts<'a>) -> Self {
        Self {
            facts: *facts,
            command: None,
            spellings: Spellings::new(facts.server, facts.tool),
            marked: OnceCell::new(),
            readings: OnceCell::new(),
            marked_readings: OnceCell::new(),
            under_all_names: OnceCell::new(),
            marked_renamed: OnceCell::new(),
            held_texts: RefCell::default(),
        }
    }

    /// One simple command of a call; `arguments` are those of the call with that command.
    pub(super) fn command(facts: &CallFacts<'a>, command: &'a SimpleCommand, arguments: &'a Arguments<'a>) -> Self {
        Self { command: Some(command), ..Self::call(&CallFacts { arguments, ..*facts }) }
    }

    /// The texts in a command of the call that it may run; worked out once for all rules.
    pub(super) fn held_texts(&self, command: &SimpleCommand) -> Rc<[String]> {
        let mut known = self.held_texts.borrow_mut();
        Rc::clone(known.entry(std::ptr::from_ref(command)).or_insert_with(|| command.held_texts().collect()))
    }

    /// The arguments as `argsPattern` sees them.
    pub(super) fn marked(&self) -> &str {
        self.marked.get_or_init(|| canonical_json::marked(self.facts.arguments.value()))
    }

    /// The arguments with the command as the shell understands it, as far as that is not how it is written.
    pub(super) fn readings(&self) -> &[Value] {
        let read = || {
            let Some(command) = self.command else { return Vec::new() };
            let others = command.readings().into_iter().filter(|reading| *reading != command.text);
            others.map(|reading| with_command(self.facts.arguments.value(), &reading)).collect()
        };
        self.readings.get_or_init(read)
    }

    /// The same as `argsPattern` sees them.
    pub(super) fn marked_readings(&self) -> &[String] {
        self.marked_readings.get_or_init(|| self.readings().iter().map(canonical_json::marked).collect())
    }

    /// The arguments of a built-in tool, each under its alternative names too. `None` when there are none.
    pub(super) fn under_all_names(&self) -> Option<&Value> {
        let of_built_in = || self.facts.builtin.and_then(|_| under_all_names(self.facts.arguments.value()));
        self.under_all_names.get_or_init(of_built_in).as_ref()
    }

    /// The arguments of a built-in tool under alternative names, for `argsPattern`.
    pub(super) fn marked_renamed(&self) -> &[String] {
        let rename = || match self.facts.builtin {
            Some(_) => renamed(self.facts.arguments.value()).iter().map(canonical_json::marked).collect(),
            None => Vec::new(),
        };
        self.marked_renamed.get_or_init(rename)
    }
}

/// The arguments of a call as if it had only this command.
pub(super) fn with_command(arguments: &Value, command: &str) -> Value {
    let Value::Object(members) = arguments else { return arguments.clone() };
    let others = members.iter().filter(|(key, _)| *key != "command").map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(others.chain([("command".to_owned(), Value::from(command))]).collect())
}

/// A script of one command.
pub(super) fn script_of(command: &SimpleCommand) -> Script {
    Script { commands: vec![command.clone()] }
}
