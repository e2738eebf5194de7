//! Texts nobody wrote: whatever they are, reading them does not break, and what runs in one of them runs in what contains it.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, ProptestConfig, Strategy, any};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::{Reach, Risk, SimpleCommand, read};
use crate::limits::{SHELL_COMMANDS_MAX, SHELL_TEXT_BYTES_MAX};

/// What shell commands are made of.
const PIECES: [&str; 59] = [
    "ls",
    "rm",
    "-rf",
    "git",
    "x",
    " ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{",
    "}",
    "$(",
    "`",
    "<(",
    "$((",
    "))",
    "${",
    "x@P",
    ":-",
    "'",
    "\"",
    "$'",
    "\\",
    "#",
    "<<E\n",
    "\nE\n",
    "<<<",
    ">",
    "2>&1",
    "[[",
    "]]",
    "[",
    "]",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "case x in ",
    ";;",
    "esac",
    "f() ",
    "bash -c ",
    "env ",
    "xargs ",
    "timeout 5 ",
    "A=1",
    "eval ",
    "é",
    "\u{10fffd}",
];

fn any_text() -> BoxedStrategy<String> {
    let built = vec(select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat());
    proptest::prop_oneof![4 => built, 1 => any::<String>()].boxed()
}

fn plain_word() -> BoxedStrategy<String> {
    "[a-zA-Z0-9_./:@%+-]{1,8}".boxed()
}

/// A command that is read for certain.
fn plain_command() -> BoxedStrategy<String> {
    let program = select(&["ls", "rm", "git", "make", "npm"][..]);
    let argument = proptest::prop_oneof![
        4 => plain_word(),
        1 => "[a-z ;|&$<>(){}*]{0,8}".prop_map(|text| format!("'{text}'")),
        1 => plain_word().prop_map(|text| format!("\"$x {text}\"")),
        1 => plain_word().prop_map(|text| format!("$(echo {text})")),
    ];
    let simple = (program, vec(argument, 0..4))
        .prop_map(|(program, arguments)| [vec![program.to_owned()], arguments].concat().join(" "));
    simple
        .prop_recursive(2, 8, 2, |inner| {
            (inner.clone(), inner, select(&[" && ", " || ", "; ", " | ", "\n"][..]))
                .prop_map(|(left, right, between)| format!("{left}{between}{right}"))
        })
        .boxed()
}

fn texts(commands: &[SimpleCommand]) -> Vec<&str> {
    commands.iter().map(|command| command.text.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in any_text()) {
        match read(&text) {
            Ok(script) => {
                prop_assert!(!script.commands.is_empty() && script.commands.len() <= SHELL_COMMANDS_MAX);
                for command in &script.commands {
                    prop_assert!(!command.text.trim().is_empty(), "{:?}", command);
                    prop_assert!(!command.normalised().is_empty());
                    prop_assert!(command.risk() != Risk::KnownSafe || command.assignments.is_empty());
                }
            }
            Err(unreadable) => prop_assert!(!unreadable.why.is_empty()),
        }
    }

    #[test]
    fn joined_texts_run_what_each_of_them_runs(
        left in plain_command(), right in plain_command(), between in select(&["&&", ";", "|", " && ", "; ", " | ", "\n"][..]),
    ) {
        let (Ok(first), Ok(second)) = (read(&left), read(&right)) else {
            return Err(proptest::test_runner::TestCaseError::fail(format!("not read: {left} or {right}")));
        };
        let joined = read(&format!("{left}{between}{right}"));
        let both: Vec<&str> = [texts(&first.commands), texts(&second.commands)].concat();
        prop_assert_eq!(joined.as_ref().map(|script| texts(&script.commands)), Ok(both));
    }

    #[test]
    fn a_wrapper_runs_what_its_text_runs(text in plain_command()) {
        let Ok(script) = read(&text) else {
            return Err(proptest::test_runner::TestCaseError::fail(format!("not read: {text}")));
        };
        let wrapped = read(&format!("bash -c '{}'", text.replace('\'', "'\\''")));
        let inner = wrapped.map(|script| script.commands.into_iter().skip(1).collect::<Vec<_>>());
        prop_assert_eq!(inner, Ok(script.commands));
    }

    #[test]
    fn quotes_do_not_evade_a_restriction(words in vec(plain_word(), 1..4), style in 0..4_u8, more in plain_word()) {
        let quote = |word: &String| match style {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => word.chars().map(|letter| format!("\\{letter}")).collect(),
            _ => word.chars().map(|letter| format!("'{letter}'\"\"")).collect(),
        };
        let written: Vec<String> = words.iter().map(quote).collect();
        let script = read(&format!("{} {more}", written.join("  ")));
        let is_reached = script.map(|script| {
            script.commands.iter().any(|command| command.begins_with(&words.join(" "), Reach::Restriction))
        });
        // A program such as `env` may refuse the words behind it, which is no way around a restriction either.
        prop_assert!(is_reached.unwrap_or(true));
    }
}

#[test]
fn bounds_hold() {
    for (text, why) in [
        ("x".repeat(SHELL_TEXT_BYTES_MAX + 1), "bytes long"),
        ("ls;".repeat(SHELL_COMMANDS_MAX + 1), "commands"),
        ("( ".repeat(2_000) + "ls" + &" )".repeat(2_000), "nested"),
        ("(".repeat(2_000) + "ls" + &")".repeat(2_000), "every shell"),
        ("echo $(".repeat(2_000) + "ls" + &")".repeat(2_000), "nested"),
        ("(".repeat(20_000), ""),
        ("\"$(".repeat(10_000), ""),
        ("a=$((".repeat(10_000), ""),
        ("<<E ".repeat(10_000), "here-documents"),
        ("[[ ".repeat(10_000), ""),
        ("{a,".repeat(10_000), ""),
    ] {
        let outcome = read(&text);
        assert!(outcome.as_ref().is_err_and(|unreadable| unreadable.why.contains(why)), "{why}: {outcome:?}");
    }
    let long = "ls && ".repeat(SHELL_COMMANDS_MAX - 1) + "ls";
    assert_eq!(read(&long).map(|script| script.commands.len()), Ok(SHELL_COMMANDS_MAX));
}
