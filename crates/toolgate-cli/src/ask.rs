//! Puts the questions of servers to the person at the terminal. Whoever asks is named, and saying no is always a choice.

use std::fmt;

use inquire::validator::Validation;
use inquire::{Confirm, InquireError, MultiSelect, Select, Text};
use serde_json::Value;
use toolgate::connect::{Elicitation, ElicitationAnswer};
use toolgate::shape::visible;
use toolgate::{RawJson, ServerName};

use crate::columns::short;
use crate::form::{self, Choice, Field, Kind};
use crate::limits::{FORM_HELP_CHARS_MAX, LABEL_CHARS_MAX, QUESTION_CHARS_MAX};
use crate::question::Asker;
use crate::talk::Talk;

/// What a person may do with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Willing {
    Answer,
    Decline,
    Cancel,
}

impl fmt::Display for Willing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answer => "Answer",
            Self::Decline => "Decline: the server is told that you do not want to answer",
            Self::Cancel => "Cancel: the server is told that nobody answered",
        })
    }
}

/// A question that ended without an answer.
enum NoAnswer {
    /// Back to the choice whether to answer at all.
    Back,
    /// The person wants out.
    Out,
}

impl From<InquireError> for NoAnswer {
    fn from(error: InquireError) -> Self {
        match error {
            InquireError::OperationCanceled => Self::Back,
            _ => Self::Out,
        }
    }
}

/// Asks. Blocks until the person has decided; a question nobody waits for any more is not asked.
pub(crate) fn ask(talk: &Talk, asker: &Asker, server: &ServerName, question: &Elicitation) -> ElicitationAnswer {
    let answer = talk.asking(asker, || match question {
        Elicitation::Form { message, schema } => ask_form(asker, server, message, schema),
        Elicitation::Url { message, url } => ask_url(server, message, url),
    });
    answer.unwrap_or(ElicitationAnswer::Cancel)
}

fn ask_form(asker: &Asker, server: &ServerName, message: &str, schema: &RawJson) -> ElicitationAnswer {
    let heading = format!("{} asks: {}", visible::line(server), short(message, QUESTION_CHARS_MAX));
    let fields = match form::fields(schema) {
        Ok(fields) => fields,
        Err(reason) => {
            announce(&format!("{heading}\n  declined: {reason}"));
            return ElicitationAnswer::Decline;
        }
    };
    loop {
        let choices = vec![Willing::Answer, Willing::Decline, Willing::Cancel];
        match Select::new(&heading, choices).without_filtering().prompt() {
            Ok(Willing::Answer) => {}
            Ok(Willing::Decline) => return ElicitationAnswer::Decline,
            Ok(Willing::Cancel) | Err(_) => return ElicitationAnswer::Cancel,
        }
        match ask_fields(asker, &fields) {
            Ok(answers) => return ElicitationAnswer::Accept(Some(form::answer(answers))),
            Err(NoAnswer::Back) => {}
            Err(NoAnswer::Out) => return ElicitationAnswer::Cancel,
        }
    }
}

fn ask_fields(asker: &Asker, fields: &[Field]) -> Result<Vec<(String, Value)>, NoAnswer> {
    let mut answers = Vec::new();
    for field in fields {
        if asker.is_gone() {
            return Err(NoAnswer::Out);
        }
        if let Some(value) = ask_field(field)? {
            answers.push((field.name.clone(), value));
        }
    }
    Ok(answers)
}

fn ask_field(field: &Field) -> Result<Option<Value>, NoAnswer> {
    let optional = if field.is_required { "" } else { " (optional)" };
    let label = format!("{}{optional}:", short(field.label(), LABEL_CHARS_MAX));
    let help = field.description.as_deref().map(|text| short(text, FORM_HELP_CHARS_MAX));
    match &field.kind {
        Kind::YesOrNo => {
            let mut prompt = Confirm::new(&label);
            prompt.default = field.default.as_ref().and_then(Value::as_bool);
            prompt.help_message = help.as_deref();
            Ok(Some(Value::from(prompt.prompt()?)))
        }
        Kind::OneOf(choices) => {
            let shown = shown(choices);
            let at = choices.iter().position(|choice| Some(&choice.value) == field.default.as_ref());
            let mut prompt = Select::new(&label, shown).with_starting_cursor(at.unwrap_or(0));
            prompt.help_message = help.as_deref();
            let taken = if field.is_required { Some(prompt.raw_prompt()?) } else { prompt.raw_prompt_skippable()? };
            Ok(taken.and_then(|taken| choices.get(taken.index)).map(|choice| choice.value.clone()))
        }
        Kind::SomeOf { choices, .. } => ask_several(field, choices, &label, help.as_deref()),
        Kind::Text { .. } | Kind::Number { .. } | Kind::Json => ask_text(field, &label, help.as_deref()),
    }
}

fn ask_text(field: &Field, label: &str, help: Option<&str>) -> Result<Option<Value>, NoAnswer> {
    let checked = field.clone();
    let default = field.default_text().map(|text| visible::line(&text).into_owned());
    let mut prompt = Text::new(label).with_validator(move |typed: &str| {
        Ok(match checked.read(typed) {
            Ok(_) => Validation::Valid,
            Err(reason) => Validation::Invalid(reason.into()),
        })
    });
    prompt.initial_value = default.as_deref();
    prompt.help_message = help;
    let typed = prompt.prompt()?;
    field.read(&typed).map_err(|_| NoAnswer::Back)
}

fn ask_several(field: &Field, choices: &[Choice], label: &str, help: Option<&str>) -> Result<Option<Value>, NoAnswer> {
    let defaults = field.default.as_ref().and_then(Value::as_array);
    let is_default = |choice: &Choice| defaults.is_some_and(|values| values.contains(&choice.value));
    let taken: Vec<usize> =
        choices.iter().enumerate().filter(|(_, choice)| is_default(choice)).map(|(at, _)| at).collect();
    let checked = field.clone();
    let mut prompt = MultiSelect::new(label, shown(choices)).with_default(&taken).with_validator(
        move |taken: &[inquire::list_option::ListOption<&String>]| {
            Ok(match checked.check_count(taken.len()) {
                Ok(()) => Validation::Valid,
                Err(reason) => Validation::Invalid(reason.into()),
            })
        },
    );
    if help.is_some() {
        prompt.help_message = help;
    }
    let taken = prompt.raw_prompt()?;
    if taken.is_empty() && !field.is_required {
        return Ok(None);
    }
    let values = taken.iter().filter_map(|taken| choices.get(taken.index)).map(|choice| choice.value.clone());
    Ok(Some(Value::Array(values.collect())))
}

fn shown(choices: &[Choice]) -> Vec<String> {
    choices.iter().map(|choice| short(&choice.label, LABEL_CHARS_MAX)).collect()
}

/// Nothing is opened for the person: they see where it leads and go there themselves.
fn ask_url(server: &ServerName, message: &str, url: &str) -> ElicitationAnswer {
    let host = host_of(url);
    announce(&format!(
        "{} asks you to visit {}: {}\n  {}",
        visible::line(server),
        visible::line(host),
        short(message, QUESTION_CHARS_MAX),
        visible::line(url)
    ));
    let question = format!("Will you open this page at {} yourself?", visible::line(host));
    match Confirm::new(&question).with_default(false).prompt() {
        Ok(true) => ElicitationAnswer::Accept(None),
        Ok(false) => ElicitationAnswer::Decline,
        Err(_) => ElicitationAnswer::Cancel,
    }
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
