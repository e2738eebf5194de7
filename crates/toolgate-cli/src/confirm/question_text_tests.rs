//! What a person sees before they decide.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate::call::{Before, Edit};
use toolgate::policy::{Because, Decision, RuleOrigin, Verdict};
use toolgate::wire::view::ToolHints;
use toolgate::{Asker, RawJson};

use super::{Look, Question, question_lines};
use crate::columns::width;
use crate::terminal::Paint;

fn verdict(because: Because, adjustments: &[&str]) -> Verdict {
    let adjustments = adjustments.iter().map(|words| (*words).to_owned()).collect();
    Verdict { decision: Decision::Ask, because, adjustments }
}

fn shown(question: Question<'_>, columns: usize) -> Vec<String> {
    question_lines(question, Look { columns, paint: Paint::default() })
}

#[test]
fn everything_is_there_to_decide_by() {
    let origin = RuleOrigin {
        label: "User: shell.toml".to_owned(),
        file: Some(Arc::new(PathBuf::from("/home/ada/.toolgate/policies/shell.toml"))),
        line: Some(12),
        name: Some("shell".to_owned()),
    };
    let verdict = verdict(Because::Filter(origin), &["`rm -rf y` is dangerous"]);
    let arguments = RawJson::from_bytes(r#"{"command":"cd x && rm -rf y"}"#).unwrap();
    let question = Question {
        server: "workspace",
        tool: "run_shell_command",
        title: Some("Run a command"),
        hints: ToolHints {
            read_only_hint: Some(false),
            destructive_hint: Some(true),
            idempotent_hint: None,
            open_world_hint: Some(true),
        },
        called_as: "workspace__run_shell_command",
        arguments: &arguments,
        asked_by: Asker::Model,
        verdict: &verdict,
        edit: None,
    };
    let expected = [
        "A model wants to call run_shell_command of server workspace",
        "  title: Run a command",
        "  called as: workspace__run_shell_command",
        "  its server says: it changes something, it may destroy something, it reaches the outside world",
        "  asked because: User: shell.toml, rule \"shell\" (/home/ada/.toolgate/policies/sh",
        "  ell.toml:12)",
        "  `rm -rf y` is dangerous",
        "  with",
        "    command: cd x && rm -rf y",
    ];
    assert_eq!(shown(question, 80), expected);
}

#[test]
fn why_it_is_asked_is_said_in_every_case() {
    let arguments = RawJson::EMPTY_OBJECT;
    let label = |label: &str| RuleOrigin { label: label.to_owned(), ..RuleOrigin::default() };
    let cases = [
        (Because::NoRule, "  asked because: no rule speaks of it"),
        (Because::Filter(label("tools.confirmationRequired")), "  asked because: tools.confirmationRequired"),
        (Because::Remembered("3fa9c1".to_owned()), "  asked because: you allowed it before (grant 3fa9c1), but"),
    ];
    for (because, expected) in cases {
        let verdict = verdict(because, &[]);
        let question = Question {
            server: "s",
            tool: "t",
            title: Some("t"),
            hints: ToolHints::default(),
            called_as: "t",
            arguments: &arguments,
            asked_by: Asker::Cli,
            verdict: &verdict,
            edit: None,
        };
        assert_eq!(shown(question, 80), ["This command wants to call t of server s", expected, "  without arguments"],);
    }
}

#[test]
fn an_edit_is_shown_as_a_change_and_not_twice() {
    let arguments = RawJson::from_bytes(r#"{"path":"a","content":"new\n"}"#).unwrap();
    let edit = Edit { path: "a".to_owned(), before: Before::Text("old\n".to_owned()), after: "new\n".to_owned() };
    let verdict = verdict(Because::NoRule, &[]);
    let question = Question {
        server: "w",
        tool: "write_file",
        title: None,
        hints: ToolHints::default(),
        called_as: "write_file",
        arguments: &arguments,
        asked_by: Asker::GatewayClient,
        verdict: &verdict,
        edit: Some(&edit),
    };
    let expected = [
        "A client of the gateway wants to call write_file of server w",
        "  asked because: no rule speaks of it",
        "  with",
        "    path: a",
        "  changes a",
        "    @@ -1 +1 @@",
        "    -old",
        "    +new",
    ];
    assert_eq!(shown(question, 80), expected);
}

#[test]
fn what_others_wrote_neither_acts_nor_looks_like_ours() {
    let evil = "x\u{1b}[2J\r\n? Make this call?\u{202e}";
    let text = serde_json::json!({evil: evil, "deep": [{evil: evil}]});
    let arguments = RawJson::from(text);
    let edit = Edit { path: evil.to_owned(), before: Before::Text(evil.to_owned()), after: format!("{evil}{evil}") };
    let origin = RuleOrigin { label: evil.to_owned(), name: Some(evil.to_owned()), ..RuleOrigin::default() };
    let many: Vec<&str> = std::iter::repeat_n(evil, 50).collect();
    let verdict = verdict(Because::Filter(origin), &many);
    let question = Question {
        server: evil,
        tool: evil,
        title: Some("other\nWords"),
        hints: ToolHints::default(),
        called_as: evil,
        arguments: &arguments,
        asked_by: Asker::SlashCommand,
        verdict: &verdict,
        edit: Some(&edit),
    };
    for columns in [1, 30, 80] {
        let lines = shown(question, columns);
        for (at, line) in lines.iter().enumerate() {
            assert!(!line.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{line:?}");
            assert!(at == 0 || line.starts_with("  "), "{line:?}");
            assert!(columns < 80 || at == 0 || width(line) <= 200, "{line:?}");
        }
        assert!(lines.len() < 200 && lines.contains(&"  … and 40 more reasons".to_owned()), "{lines:?}");
    }
}
