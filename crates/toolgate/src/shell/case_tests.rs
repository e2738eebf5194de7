//! Shell commands as one line of data each: the text, what is expected of it, and the section of the behaviour that asks for it.

use std::path::Path;

use super::{Reach, Risk, Script, SimpleCommand, Unreadable, Wrapping, read};

const CASES: &str = include_str!("cases.txt");

/// Between the columns of a case.
const COLUMN: &str = " ¦ ";

/// A line feed and a carriage return within a column.
const LINE_FEED: char = '␤';
const CARRIAGE_RETURN: char = '␍';

#[test]
fn every_case_holds() {
    let mut wrong = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with("## ")) {
        let columns: Vec<String> = line
            .split(COLUMN)
            .map(|column| column.trim().replace(LINE_FEED, "\n").replace(CARRIAGE_RETURN, "\r"))
            .collect();
        let [text, expected, section] = columns.as_slice() else { panic!("not three columns: {line}") };
        assert!(["6.5", "D-38", "ours"].contains(&section.as_str()), "no such section: {line}");
        let (what, value) = expected.split_once(' ').unwrap_or((expected, ""));
        let actual = observed(what, value, &read(text));
        if actual != value {
            wrong.push(format!("{line}\n    is: {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn there_are_cases_of_every_kind() {
    let of = |what: &str| CASES.lines().filter(|line| line.contains(&format!("{COLUMN}{what} "))).count();
    for what in ["runs", "unreadable", "words", "permits", "restricts", "risk", "wraps", "redirects"] {
        assert!(of(what) >= 5, "{what}: {}", of(what));
    }
    assert!(CASES.lines().filter(|line| line.contains(COLUMN)).count() >= 150);
}

/// What is observed, in the form in which it is expected.
fn observed(what: &str, value: &str, outcome: &Result<Script, Unreadable>) -> String {
    let script = match (what, outcome) {
        ("unreadable", Err(unreadable)) if unreadable.why.contains(value) => return value.to_owned(),
        (_, Err(unreadable)) => return format!("unreadable: {}", unreadable.why),
        ("unreadable", Ok(script)) => return format!("{script:?}"),
        (_, Ok(script)) => script,
    };
    let each = |show: fn(&SimpleCommand) -> String| script.commands.iter().map(show).collect::<Vec<_>>().join(" + ");
    match what {
        "runs" => each(|command| command.text.clone()),
        "normalised" => each(SimpleCommand::normalised),
        "words" => each(shown_words),
        "assigns" => each(|command| command.assignments.join(",")),
        "redirects" => each(|command| command.is_redirected.to_string()),
        "unseen" => each(|command| command.runs_unseen.to_string()),
        "elsewhere" => each(|command| command.leads_elsewhere().to_string()),
        "stays" => each(|command| command.stays_in(Path::new("/work/here"), &[]).to_string()),
        "git" => each(|command| command.is_git().to_string()),
        "wraps" => each(|command| match command.wrapping {
            Wrapping::Nothing => "nothing".to_owned(),
            Wrapping::Transparent => "transparent".to_owned(),
            Wrapping::Opaque => "opaque".to_owned(),
        }),
        "risk" => each(|command| match command.risk() {
            Risk::Dangerous(_) => "dangerous".to_owned(),
            Risk::KnownSafe => "safe".to_owned(),
            Risk::Unremarkable => "plain".to_owned(),
        }),
        "permits" => reached(script, value, Reach::Permission, true),
        "permits-not" => reached(script, value, Reach::Permission, false),
        "restricts" => reached(script, value, Reach::Restriction, true),
        "restricts-not" => reached(script, value, Reach::Restriction, false),
        other => panic!("nothing is called {other}"),
    }
}

/// The prefix again when it is as expected: a permission reaches every command that is decided, a restriction any of them.
fn reached(script: &Script, prefix: &str, reach: Reach, is_expected: bool) -> String {
    let mut commands = script.commands.iter().filter(|command| command.wrapping != Wrapping::Transparent);
    let is_reached = match reach {
        Reach::Permission => commands.all(|command| command.begins_with(prefix, reach)),
        Reach::Restriction => commands.any(|command| command.begins_with(prefix, reach)),
    };
    if is_reached == is_expected { prefix.to_owned() } else { format!("{is_reached} for {:?}", script.commands) }
}

fn shown_words(command: &SimpleCommand) -> String {
    let words: Vec<String> = command
        .words
        .iter()
        .map(|word| word.literal.clone().map_or_else(|| "?".to_owned(), |text| format!("<{text}>")))
        .collect();
    words.join(" ")
}
