//! Puts the questions of servers to the person at the terminal. Whoever asks is named, and saying no is always a choice.

use serde_json::Value;
use toolgate::connect::{Elicitation, ElicitationAnswer};
use toolgate::shape::visible;
use toolgate::{RawJson, ServerName};

use crate::columns::short;
use crate::form::{self, Choice, Field, Kind};
use crate::limits::{FORM_HELP_CHARS_MAX, LABEL_CHARS_MAX, QUESTION_CHARS_MAX};
use crate::prompt::{Left, List, Prompt, Typed};
use crate::question::Asker;
use crate::talk::Talk;

/// What a person may do with a question. The last is proposed: a key that was meant for something else tells a server nothing.
const WILLING: [&str; 3] = [
    "Answer",
    "Decline: the server is told that you do not want to answer",
    "Cancel: the server is told that nobody answered",
];

/// Asks. Blocks until the person has decided; a question nobody waits for any more is not asked.
pub(crate) fn ask(talk: &Talk, asker: &Asker, server: &ServerName, question: &Elicitation) -> ElicitationAnswer {
    let prompt = Prompt { asker, paint: talk.paint() };
    let answer = talk.asking(asker, || {
        asker.forget_until_shown();
        let answer = match question {
            Elicitation::Form { message, schema } => ask_form(prompt, server, message, schema),
            Elicitation::Url { message, url } => ask_url(prompt, server, message, url),
        };
        answer.unwrap_or_else(|left| {
            if left == Left::Out {
                talk.stop();
            }
            ElicitationAnswer::Cancel
        })
    });
    answer.unwrap_or(ElicitationAnswer::Cancel)
}

fn ask_form(
    prompt: Prompt<'_>,
    server: &ServerName,
    message: &str,
    schema: &RawJson,
) -> Result<ElicitationAnswer, Left> {
    let heading = format!("{} asks: {}", visible::line(server), short(message, QUESTION_CHARS_MAX));
    let fields = match form::fields(schema) {
        Ok(fields) => fields,
        Err(reason) => {
            announce(&format!("{heading}\n  declined: {reason}"));
            return Ok(ElicitationAnswer::Decline);
        }
    };
    loop {
        let choices = List::new(&heading, WILLING.map(ToOwned::to_owned).into()).starting_at(WILLING.len() - 1);
        match prompt.pick(choices)? {
            0 => {}
            1 => return Ok(ElicitationAnswer::Decline),
            _ => return Ok(ElicitationAnswer::Cancel),
        }
        match ask_fields(prompt, &fields) {
            Ok(answers) => return Ok(ElicitationAnswer::Accept(Some(form::answer(answers)))),
            // Back to the choice whether to answer at all.
            Err(Left::Back) => {}
            Err(left) => return Err(left),
        }
    }
}

fn ask_fields(prompt: Prompt<'_>, fields: &[Field]) -> Result<Vec<(String, Value)>, Left> {
    let mut answers = Vec::new();
    for field in fields {
        if let Some(value) = ask_field(prompt, field)? {
            answers.push((field.name.clone(), value));
        }
    }
    Ok(answers)
}

fn ask_field(prompt: Prompt<'_>, field: &Field) -> Result<Option<Value>, Left> {
    let optional = if field.is_required { "" } else { " (optional)" };
    let label = format!("{}{optional}:", short(field.label(), LABEL_CHARS_MAX));
    let help = field.description.as_deref().map(|text| short(text, FORM_HELP_CHARS_MAX));
    let help = help.as_deref();
    match &field.kind {
        Kind::YesOrNo => {
            let proposed = field.default.as_ref().and_then(Value::as_bool);
            Ok(Some(Value::from(prompt.yes_or_no(&label, proposed, help)?)))
        }
        Kind::OneOf(choices) => {
            let at = choices.iter().position(|choice| Some(&choice.value) == field.default.as_ref());
            let list = List::new(&label, shown(choices)).starting_at(at.unwrap_or(0)).help(help).filtered(reads_like);
            match prompt.pick(list) {
                Ok(taken) => Ok(choices.get(taken).map(|choice| choice.value.clone())),
                Err(Left::Back) if !field.is_required => Ok(None),
                Err(left) => Err(left),
            }
        }
        Kind::SomeOf { choices, .. } => ask_several(prompt, field, choices, &label, help),
        Kind::Text { .. } | Kind::Number { .. } | Kind::Json => {
            let proposed = field.default_text().map(|text| visible::line(&text).into_owned());
            let check = |typed: &str| field.read(typed).map(drop);
            let typed = prompt.line(Typed::new(&label).proposing(proposed.as_deref()).help(help).checked(&check))?;
            field.read(&typed).map_err(|_| Left::Back)
        }
    }
}

fn ask_several(
    prompt: Prompt<'_>,
    field: &Field,
    choices: &[Choice],
    label: &str,
    help: Option<&str>,
) -> Result<Option<Value>, Left> {
    let defaults = field.default.as_ref().and_then(Value::as_array);
    let is_default = |choice: &Choice| defaults.is_some_and(|values| values.contains(&choice.value));
    let proposed = choices.iter().enumerate().filter(|(_, choice)| is_default(choice)).map(|(at, _)| at);
    let check = |count: usize| field.check_count(count);
    let list = List::new(label, shown(choices)).taking(proposed).help(help).checked(&check);
    let taken = prompt.pick_several(list)?;
    if taken.is_empty() && !field.is_required {
        return Ok(None);
    }
    let values = taken.iter().filter_map(|taken| choices.get(*taken)).map(|choice| choice.value.clone());
    Ok(Some(Value::Array(values.collect())))
}

fn reads_like(typed: &str, choice: &str) -> bool {
    choice.to_lowercase().contains(&typed.to_lowercase())
}

fn shown(choices: &[Choice]) -> Vec<String> {
    choices.iter().map(|choice| short(&choice.label, LABEL_CHARS_MAX)).collect()
}

/// Nothing is opened for the person: they see where it leads and go there themselves.
fn ask_url(prompt: Prompt<'_>, server: &ServerName, message: &str, url: &str) -> Result<ElicitationAnswer, Left> {
    let host = host_of(url);
    announce(&format!(
        "{} asks you to visit {}: {}\n  {}",
        visible::line(server),
        visible::line(host),
        short(message, QUESTION_CHARS_MAX),
        visible::line(url)
    ));
    let question = format!("Will you open this page at {} yourself?", visible::line(host));
    let will_open = prompt.yes_or_no(&question, Some(false), None)?;
    Ok(if will_open { ElicitationAnswer::Accept(None) } else { ElicitationAnswer::Decline })
}

/// Where a URL leads: what stands between `//` and the next `/`, without a name and password that only look like a host.
fn host_of(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("//") else { return "a page without a host" };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

fn announce(text: &str) {
    use std::io::Write as _;
    // Without a terminal to show it on, the question that follows fails too.
    let _said = writeln!(std::io::stderr().lock(), "{text}").is_ok();
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn the_host_is_where_the_link_really_leads() {
        let cases = [
            ("https://login.example/authorize?x=1", "login.example"),
            ("https://bank.example@evil.example/", "evil.example"),
            ("https://evil.example\\@bank.example/", "evil.example"),
            ("https://login.example:8443#bank.example/", "login.example:8443"),
            ("javascript:alert(1)", "a page without a host"),
        ];
        for (url, host) in cases {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
