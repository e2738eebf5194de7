//! What prompts are called as commands, and what they say about themselves.

use std::sync::Arc;

use toolgate_wire::view::{Prompt, PromptArgument};

use super::*;

/// An argument; `name!` is required.
fn argument(name: &str) -> PromptArgument {
    let required = name.ends_with('!');
    PromptArgument { name: name.trim_end_matches('!').to_owned(), description: None, required }
}

fn prompt(server: &str, name: &str, arguments: &[&str]) -> CatalogPrompt {
    let arguments = arguments.iter().map(|name| argument(name)).collect();
    let raw = serde_json::json!({}).into();
    let prompt = Prompt { name: name.to_owned(), title: None, description: None, arguments, raw };
    let server = ServerName::new(server).unwrap();
    CatalogPrompt { name: name.into(), is_name_final: true, server, prompt: Arc::new(prompt) }
}

/// `server/prompt` → command, in order.
fn named(commands: &mut SlashCommands, prompts: &[(&str, &str)], built_in: &[&str]) -> Vec<String> {
    let prompts = prompts.iter().map(|(server, name)| prompt(server, name, &[])).collect();
    commands.follow_prompts(prompts, built_in);
    commands.all().iter().map(|command| command.name.to_string()).collect()
}

#[test]
fn names_are_one_word_and_nothing_is_overwritten() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case<'_>; 8] = [
        (&[("a", "review")], &["review"]),
        (&[("a", "  code \t review ")], &["code-review"]),
        (&[("a", "   ")], &["prompt"]),
        (&[("a", "mcp"), ("b", "help")], &["a.mcp", "b.help"]),
        (&[("a", "x"), ("b", "x"), ("c", "x")], &["x", "b.x", "c.x"]),
        (&[("a", "x y"), ("a", "x-y"), ("a", "x  y")], &["x-y", "a.x-y", "a.x-y1"]),
        (&[("a", "b.x"), ("c", "x"), ("b", "x")], &["b.x", "x", "b.x1"]),
        (&[("my server", "mcp")], &["my-server.mcp"]),
    ];
    for (prompts, expected) in cases {
        assert_eq!(named(&mut SlashCommands::default(), prompts, &["mcp", "help"]), expected, "{prompts:?}");
    }
}

#[test]
fn a_name_stays_with_its_prompt() {
    let mut commands = SlashCommands::default();
    assert_eq!(named(&mut commands, &[("b", "x")], &[]), ["x"]);
    assert_eq!(named(&mut commands, &[("a", "x"), ("b", "x")], &[]), ["a.x", "x"]);
    assert_eq!(named(&mut commands, &[("a", "x")], &[]), ["a.x"]);
    assert!(commands.find("x").is_none());
    assert_eq!(named(&mut commands, &[("c", "x"), ("b", "x")], &[]), ["c.x", "x"]);
}

#[test]
fn renames_are_reported_once_with_their_reason() {
    let mut commands = SlashCommands::default();
    let prompts = || vec![prompt("a", "mcp", &[]), prompt("a", "x", &[]), prompt("b", "x", &[])];
    let renamed = commands.follow_prompts(prompts(), &["mcp"]);
    let told: Vec<String> = renamed
        .iter()
        .map(|one| format!("{}: {}", one.name, one.renamed.as_ref().map(ToString::to_string).unwrap_or_default()))
        .collect();
    assert_eq!(told, ["a.mcp: a command of toolgate has that name", "b.x: a prompt of a has that name"]);
    assert!(commands.follow_prompts(prompts(), &["mcp"]).is_empty());
}

#[test]
fn help_says_how_arguments_are_given() {
    let of = |arguments: &[&str]| {
        let mut commands = SlashCommands::default();
        commands.follow_prompts(vec![prompt("a", "p", arguments)], &[]);
        commands.find("p").unwrap().clone()
    };
    let cases: [(&[&str], &[&str]); 4] = [
        (&[], &["/p takes no arguments."]),
        (
            &["f!", "g"],
            &["The prompt p of a", "  /p --f=\"…\" --g=\"…\"", "  /p <f>", "    required: yes", "    required: no"],
        ),
        (&["f!", "g!"], &["  /p <f> <g>"]),
        (&["f"], &["All of them can be left out, and each can only be given by name."]),
    ];
    for (arguments, lines) in cases {
        let command = of(arguments);
        let help = command.help();
        for line in lines {
            assert!(help.lines().any(|found| found == *line), "{line:?} is not in\n{help}");
        }
        assert_eq!(command.runs_at_once(), arguments.is_empty());
        assert_eq!(command.read(" help "), Ok(Asked::Help));
    }
    let Ok(Asked::Prompt(given)) = of(&["f!"]).read("\"help\"") else { panic!("quotes make it a value") };
    assert_eq!(given.values.get("f").map(String::as_str), Some("help"));
}

#[test]
fn a_name_is_given_when_no_server_before_can_claim_it() {
    // A star behind a server: one before it has not said what it offers.
    let of = |servers: &[&str]| {
        let greet = |server: &&str| {
            let is_name_final = !server.ends_with('*');
            CatalogPrompt { is_name_final, ..prompt(server.trim_end_matches('*'), "greet", &[]) }
        };
        servers.iter().map(greet).collect::<Vec<_>>()
    };
    let names = |commands: &SlashCommands| -> Vec<String> {
        commands.all().iter().map(|command| command.name.to_string()).collect()
    };
    let mut commands = SlashCommands::default();
    assert!(commands.follow_prompts(of(&["two*"]), &[]).is_empty());
    assert_eq!(names(&commands), ["two.greet"]);
    assert!(commands.find("greet").is_none());
    let renamed = commands.follow_prompts(of(&["one", "two"]), &[]);
    assert_eq!(names(&commands), ["greet", "two.greet"]);
    assert_eq!(renamed.len(), 1);
    // Without the first one the name is free, and what it was called before still answers.
    let mut commands = SlashCommands::default();
    commands.follow_prompts(of(&["two*"]), &[]);
    commands.follow_prompts(of(&["two"]), &[]);
    assert_eq!(names(&commands), ["greet"]);
    assert_eq!(commands.find("two.greet").map(|command| command.name.to_string()), Some("greet".to_owned()));
}
