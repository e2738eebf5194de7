//! Whether a tool is shown at all: not, when every call of it would be denied.

use std::path::Path;

use serde_json::Value;

use super::decision::{Decision, Mode, Tier};
use super::evaluate::Policy;
use super::facts::{CallFacts, Presence, ToolFacts};
use super::matching::{Fit, Part, fits, parts};
use super::rank::Ranked;
use super::shell_call::SHELL_TOOL;
use super::subject::Subject;
use crate::filter::Arguments;

impl Policy {
    /// Whether a tool is shown. A tool that is not has no call that would not be denied.
    #[must_use]
    pub fn visible(&self, tool: &ToolFacts<'_>) -> bool {
        let somebody_is_there = tool.presence == Presence::Interactive;
        // Whoever can be asked is shown all that no rule denies.
        if somebody_is_there && !self.denies_in(tool.mode) {
            return true;
        }
        let arguments = Arguments::new(&Value::Null);
        let subject = Subject::call(&tool.call(&arguments));
        // Commands that only look need no question there.
        let has_safe_calls = tool.builtin.is_some() && tool.tool == SHELL_TOOL;
        let mut asking: Vec<Tier> = Vec::new();
        for ranked in self.candidates(&subject.spellings).filter_map(|place| self.ranked().get(place)) {
            let rule = &ranked.rule;
            if rule.tier == Tier::Default && tool.remembered.is_some() {
                return true;
            }
            if asking.contains(&rule.tier) || !is_about_some_call(ranked, &subject) {
                continue;
            }
            match rule.decision {
                Decision::Allow => return true,
                Decision::Ask if somebody_is_there && rule.tier.only_restricts() => asking.push(rule.tier),
                Decision::Ask if somebody_is_there || (rule.tier == Tier::Default && has_safe_calls) => return true,
                Decision::Ask | Decision::Deny if rule.speaks_of_arguments() => {}
                Decision::Ask | Decision::Deny => return false,
            }
        }
        somebody_is_there || tool.remembered.is_some() || tool.mode == Mode::Yolo || has_safe_calls
    }
}

fn is_about_some_call(ranked: &Ranked, subject: &Subject<'_>) -> bool {
    parts(ranked).all(|part| {
        let depends_on_arguments = match part {
            Part::Condition(at) => {
                ranked.rule.conditions.get(at).is_some_and(|condition| condition.speaks_of_arguments())
            }
            _ => false,
        };
        depends_on_arguments || fits(ranked, part, subject) == Fit::Yes
    })
}

impl<'a> ToolFacts<'a> {
    /// A call of it with these arguments, as far as no condition looks at the folder.
    pub(crate) fn call<'c>(&self, arguments: &'c Arguments<'c>) -> CallFacts<'c>
    where
        'a: 'c,
    {
        CallFacts {
            server: self.server,
            builtin: self.builtin,
            tool: self.tool,
            arguments,
            annotations: self.annotations,
            mode: self.mode,
            presence: self.presence,
            asker: self.asker,
            subagent: self.subagent,
            folder: Path::new(""),
            folder_is_trusted: false,
            remembered: self.remembered,
        }
    }
}

impl<'a> From<&CallFacts<'a>> for ToolFacts<'a> {
    fn from(call: &CallFacts<'a>) -> Self {
        Self {
            server: call.server,
            builtin: call.builtin,
            tool: call.tool,
            annotations: call.annotations,
            mode: call.mode,
            presence: call.presence,
            asker: call.asker,
            subagent: call.subagent,
            remembered: call.remembered,
        }
    }
}
