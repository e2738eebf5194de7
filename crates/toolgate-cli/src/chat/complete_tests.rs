//! Tables of lines, each with what could stand at its end.

use toolgate::RawJson;
use toolgate::call::arguments::{ParameterHelp, describe};

use super::{Candidate, Offer, candidates, usage_hint};

struct Sample;

fn pairs(names: &[&str]) -> Vec<(String, Option<String>)> {
    names.iter().map(|name| ((*name).to_owned(), None)).collect()
}

impl Offer for Sample {
    fn servers(&self) -> Vec<(String, bool)> {
        vec![("git".to_owned(), false), ("time".to_owned(), false), ("off".to_owned(), true)]
    }

    fn tools(&self) -> Vec<(String, Option<String>)> {
        pairs(&["add", "echo", "git__echo", "evil\u{1b}[2J"])
    }

    fn parameters(&self, tool: &str) -> Vec<ParameterHelp> {
        let schema = r#"{"properties":{"how":{"enum":["exactly","not so"]},"a":{"type":"number"},"b":{"type":"boolean"}},"required":["a","b"]}"#;
        if tool == "add" { describe(&RawJson::from_bytes(schema).unwrap()) } else { Vec::new() }
    }

    fn prompts(&self) -> Vec<(String, Option<String>)> {
        pairs(&["greet"])
    }

    fn prompt_arguments(&self, prompt: &str) -> Vec<(String, bool, Option<String>)> {
        if prompt == "greet" {
            vec![("who".to_owned(), true, None), ("style".to_owned(), false, None)]
        } else {
            Vec::new()
        }
    }

    fn prompt_values(&self, prompt: &str, argument: &str, typed: &str) -> Vec<String> {
        assert_eq!((prompt, argument), ("greet", "style"));
        ["formal", "very formal"].into_iter().filter(|value| value.contains(typed)).map(ToOwned::to_owned).collect()
    }

    fn behind_prompt(&self, command: &str, behind: &str) -> Option<(usize, Vec<Candidate>)> {
        let name = Candidate { text: "--who=\"".to_owned(), about: None, is_whole: false };
        (command == "greet").then(|| (behind.rfind(' ').map_or(0, |at| at + 1), vec![name]))
    }

    fn resources(&self) -> Vec<(String, Option<String>)> {
        pairs(&["docs:docs://start", "docs:docs://end"])
    }

    fn models(&self) -> Vec<String> {
        ["gpt-x", "claude-y"].map(ToOwned::to_owned).to_vec()
    }

    fn files(&self, typed: &str) -> Vec<String> {
        ["README.md", "my notes.txt", "src/"]
            .into_iter()
            .filter(|path| path.starts_with(typed))
            .map(ToOwned::to_owned)
            .collect()
    }
}

/// What is offered for a line whose cursor stands at its end, as the line would be then.
fn check(before: &str, expected: &[&str]) {
    let found = candidates(before, &Sample);
    let kept = before.get(..found.start).unwrap();
    let lines: Vec<String> = found.all.iter().map(|one| format!("{kept}{}", one.text)).collect();
    assert_eq!(lines, expected, "{before:?}");
}

#[test]
fn lines_are_completed() {
    let cases: [(&str, &[&str]); 38] = [
        ("", &[]),
        ("hello", &[]),
        ("/pol", &["/policy"]),
        ("/gre", &["/greet"]),
        ("/re", &["/resources", "/read"]),
        ("/mcp dis", &["/mcp disable"]),
        ("/mcp ti", &["/mcp time"]),
        ("/mcp list n", &["/mcp list nodesc"]),
        ("/mcp list desc ti", &["/mcp list desc time"]),
        ("/mcp auth ", &["/mcp auth git", "/mcp auth time", "/mcp auth off"]),
        ("/mcp enable ", &["/mcp enable off"]),
        ("/mcp disable ", &["/mcp disable git", "/mcp disable time"]),
        ("/tools g", &["/tools git"]),
        ("/call ", &["/call add", "/call echo", "/call git__echo"]),
        ("/call ech", &["/call echo"]),
        ("/call __e", &["/call git__echo"]),
        ("/call add ", &["/call add a=", "/call add b=", "/call add how="]),
        ("/call add a=1 h", &["/call add a=1 how="]),
        ("/call add how=", &["/call add how=exactly", "/call add how=\"not so\""]),
        ("/call add how=e", &["/call add how=exactly"]),
        ("/call add b=", &["/call add b=true", "/call add b=false"]),
        ("/call add a=", &[]),
        ("/call other ", &[]),
        ("/mode a", &["/mode autoEdit"]),
        ("/model c", &["/model claude-y"]),
        ("/help cal", &["/help call"]),
        ("/greet ", &["/greet --who=\""]),
        ("/greet --style=x --w", &["/greet --style=x --who=\""]),
        ("/prompt greet w", &["/prompt greet who="]),
        ("/prompt greet style=f", &["/prompt greet style=formal"]),
        ("/read ", &["/read docs:docs://start", "/read docs:docs://end"]),
        ("look at @R", &["look at @README.md"]),
        ("it's in @docs:docs://s", &["it's in @docs:docs://start"]),
        ("look @my", &["look @my\\ notes.txt"]),
        ("look @my\\ n", &["look @my\\ notes.txt"]),
        ("look @\"my n", &["look @my\\ notes.txt"]),
        ("look @README.", &["look @README.md"]),
        ("say \"hi @R", &["say \"hi @README.md"]),
    ];
    for (before, expected) in cases {
        check(before, expected);
    }
}

#[test]
fn what_a_command_takes_is_hinted_at() {
    let cases = [
        ("/call add ", Some("a= b= how=")),
        ("/call add b=1 ", Some("a= how=")),
        ("/call add", None),
        ("/call ", Some("TOOL [KEY=VALUE …]")),
        ("/quit ", None),
        ("text ", None),
    ];
    for (line, expected) in cases {
        assert_eq!(usage_hint(line, &Sample).as_deref(), expected, "{line:?}");
    }
}
