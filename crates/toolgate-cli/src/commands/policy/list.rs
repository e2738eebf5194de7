//! `toolgate policy list`: the rules, by mode, in the order they are looked at.

use std::sync::Arc;

use clap::Args;
use toolgate::policy::{Mode, Rule};

use crate::call_rules::rulebook;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::rule_text;
use crate::session::Session;

/// List the rules by mode, in the order they are looked at
#[derive(Debug, Args)]
#[command(after_help = "The first rule that fits decides. Rules of the default mode are not repeated under the others.

Examples:
  toolgate policy list                 all modes
  toolgate policy list --mode plan     everything that counts in one mode
  toolgate policy list --json")]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let configured = session.whole()?;
    let rules = rulebook(session, configured.setup())?.policy;
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        let wanted = session.options().mode();
        let rules: Vec<&Arc<Rule>> =
            rules.rules().filter(|rule| wanted.is_none_or(|mode| counts_in(rule, mode))).collect();
        session.printer.json(|json| {
            json.object(|object| object.array("rules", rules, |json, rule| rule_text::write_rule(json, rule)))
        })?;
        return Ok(Ending::Done);
    }
    if let Some(mode) = session.options().mode() {
        section(session, mode, rules.rules().filter(|rule| counts_in(rule, mode)))?;
        return Ok(Ending::Done);
    }
    section(session, Mode::Default, rules.rules().filter(|rule| counts_in(rule, Mode::Default)))?;
    for mode in [Mode::AutoEdit, Mode::Yolo, Mode::Plan] {
        session.printer.line("")?;
        let more = rules.rules().filter(|rule| counts_in(rule, mode) && !counts_in(rule, Mode::Default));
        section(session, mode, more)?;
    }
    Ok(Ending::Done)
}

fn section<'a>(session: &mut Session, mode: Mode, rules: impl Iterator<Item = &'a Arc<Rule>>) -> Result<()> {
    let printer = &mut session.printer;
    let paint = printer.paint();
    printer.line(&paint.bold(format!("mode {}", mode.as_str())).to_string())?;
    let mut is_empty = true;
    for (number, rule) in (1..).zip(rules) {
        is_empty = false;
        printer.line(&format!("{number:>4}. {}", rule_text::line(rule, paint)))?;
    }
    if is_empty {
        printer.line("      no other rules")?;
    }
    Ok(())
}

fn counts_in(rule: &Rule, mode: Mode) -> bool {
    rule.modes.is_empty() || rule.modes.contains(&mode)
}
