//! Tests of lists and rules against the offers of servers, as a table.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Known, Looked, OfferedTools, Unmatched, unmatched};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::filter::NamePattern;
use crate::policy::{Decision, Policy, Rule, RuleOrigin, ServerPattern};
use crate::servers::{ServerConfig, Switches, resolve};
use crate::settings::Settings;
use crate::settings::read::read_text;
use crate::settings::source::SettingsSource;

const OFFERED: [(&str, Option<&str>, &[&str]); 3] = [
    ("github", None, &["delete_repo", "list_repos", "get_issue", "query_1"]),
    ("time", None, &["now"]),
    (
        "workspace",
        Some("workspace"),
        &["read_file", "list_directory", "glob", "search_file_content", "write_file", "replace", "run_shell_command"],
    ),
];

fn settings(text: &str) -> Settings {
    let built_in = r#"{"mcpServers": {"workspace": {"builtin": "workspace"}}}"#;
    let layer = |text: &str, source| read_text(text, Path::new("/s.json"), source).unwrap();
    let layers = vec![layer(built_in, SettingsSource::BuiltIn), layer(text, SettingsSource::User)];
    Settings { layers, ..Settings::default() }
}

fn shown(found: &[Unmatched]) -> Vec<String> {
    let line = |one: &Unmatched| {
        let near = one.nearest.as_ref().map(|near| format!(" near {near}")).unwrap_or_default();
        let mark = if one.is_mistyped { "!" } else { "" };
        format!("{}:{} {}{near}{mark}", one.list, one.line.unwrap_or_default(), one.entry)
    };
    found.iter().map(line).collect()
}

fn check(settings: &Settings, policy: Option<&Policy>, looked: Looked, is_complete: bool) -> Vec<String> {
    let dirs = HostDirs { user: "/u".into(), system: "/y".into(), home: None };
    let env = HostEnv { vars: [].into(), dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) };
    let set = resolve(&settings.layers, &Switches::default(), &env);
    let servers: Vec<&ServerConfig> = set.active.iter().map(AsRef::as_ref).collect();
    let offers = OFFERED.iter().map(|(server, builtin, tools)| OfferedTools {
        server,
        builtin: *builtin,
        tools: tools.to_vec(),
    });
    let known = Known { servers: vec!["github", "time", "workspace", "off"], offers: offers.collect(), is_complete };
    shown(&unmatched(settings, &servers, policy, &known, looked))
}

#[test]
fn entries_that_fit_nothing_are_found_and_mistyped_ones_told_apart() {
    let of_server = |list: &str, entry: &str| {
        format!(r#"{{"mcpServers": {{"github": {{"command": "x", "{list}": ["{entry}"]}}}}}}"#)
    };
    let of_key = |section: &str, key: &str, entry: &str| format!(r#"{{"{section}": {{"{key}": ["{entry}"]}}}}"#);
    let own = |list: &str, entry: &str, rest: &str| {
        (of_server(list, entry), format!("mcpServers.github.{list}:1 {entry}{rest}"))
    };
    let key = |section: &str, key: &str, entry: &str, rest: &str| {
        (of_key(section, key, entry), format!("{section}.{key}:1 {entry}{rest}"))
    };
    // settings and findings; findings with `!` are also reported when only typing errors are wanted
    let found = [
        own("excludeTools", "delete_rep", " near delete_repo!"),
        own("excludeTools", "delete_rep(x)", " near delete_repo!"),
        own("excludeTools", "DELETE_REPOS", " near delete_repo!"),
        own("excludeTools", "dleete_repo", " near delete_repo!"),
        own("includeTools", "Delete_Repo", " near delete_repo!"),
        own("includeTools", "list_repo", " near list_repos!"),
        own("includeTools", "query_2", " near query_1"),
        own("excludeTools", "drop_table", ""),
        own("excludeTools", "drop_*", ""),
        own("includeTools", "write_file", ""),
        key("tools", "exclude", "delete_rep", " near delete_repo!"),
        key("tools", "exclude", "github__delete_rep", " near delete_repo!"),
        key("tools", "exclude", "mcp_github_delete_rep", " near delete_repo!"),
        key("tools", "confirmationRequired", "run_shell_comand(rm)", " near run_shell_command!"),
        key("tools", "allowed", "read_fil", " near read_file!"),
        key("tools", "core", "globb", " near glob!"),
        key("tools", "allowed", "web_search", ""),
        key("tools", "allowed", "edit_file", " near write_file"),
        key("tools", "exclude", "nowt", " near now"),
        key("mcp", "excluded", "githb", " near github!"),
        key("mcp", "allowed", "production-server", ""),
    ];
    for (text, expected) in &found {
        let settings = settings(text);
        let all = check(&settings, None, Looked::ForAll, true);
        assert_eq!(all, [expected.as_str()], "{text}");
        let mistyped = check(&settings, None, Looked::ForMistyped, true);
        assert_eq!(mistyped.is_empty(), !expected.ends_with('!'), "{text}: {mistyped:?}");
    }
    let fitting = [
        of_server("excludeTools", "Delete_Repo"),
        of_server("excludeTools", "delete_*"),
        of_server("includeTools", "*"),
        of_server("includeTools", "delete_repo(x)"),
        of_key("tools", "exclude", "github__delete_repo"),
        of_key("tools", "exclude", "mcp_github_delete_repo"),
        of_key("tools", "exclude", "ShellTool"),
        of_key("tools", "exclude", "edit_file"),
        of_key("tools", "allowed", "run_shell_command(git)"),
        of_key("tools", "exclude", "off__anything"),
        of_key("mcp", "excluded", " GitHub "),
        of_key("mcp", "excluded", "git*"),
        of_key("mcp", "allowed", "off"),
    ];
    for text in &fitting {
        assert_eq!(check(&settings(text), None, Looked::ForAll, true), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn where_too_little_is_known_nothing_is_said() {
    let text = r#"{"tools": {"exclude": ["delete_rep", "github__delete_rep", "off__x"]}}"#;
    let found = check(&settings(text), None, Looked::ForAll, false);
    assert_eq!(found, ["tools.exclude:1 github__delete_rep near delete_repo!"]);
}

#[test]
fn rules_of_policy_files_are_held_against_tools_too() {
    let rule = |server: &str, tool: &str, decision| {
        let server = match server {
            "" => ServerPattern::Any,
            "@" => ServerPattern::BuiltIn("workspace".to_owned()),
            name => ServerPattern::Named(NamePattern::of(name)),
        };
        let origin =
            RuleOrigin { label: "p".to_owned(), file: Some(Arc::new("/p.toml".into())), line: Some(3), name: None };
        Rule { origin, ..Rule::about(server, NamePattern::of(tool), decision) }
    };
    let cases = [
        (rule("github", "delete_rep", Decision::Deny), "p:3 delete_rep near delete_repo!"),
        (rule("", "delete_rep", Decision::Deny), "p:3 delete_rep near delete_repo!"),
        (rule("githb", "*", Decision::Deny), "p:3 githb near github!"),
        (rule("githb", "delete_repo", Decision::Deny), "p:3 delete_repo near github!"),
        (rule("elsewhere", "x", Decision::Allow), "p:3 x"),
        (rule("github", "delete_*", Decision::Deny), ""),
        (rule("github", "Delete_Repo", Decision::Deny), ""),
        (rule("github", "Delete_Repo", Decision::Allow), "p:3 Delete_Repo near delete_repo!"),
        (rule("off", "x", Decision::Deny), ""),
        (rule("@", "write_file", Decision::Deny), ""),
        (rule("", "github__delete_repo", Decision::Deny), ""),
        (rule("", "ShellTool", Decision::Deny), ""),
        (rule("", "*", Decision::Deny), ""),
    ];
    for (rule, expected) in cases {
        let shown = format!("{:?} {}", rule.server, rule.tool);
        let policy = Policy::new(vec![rule]);
        let found = check(&settings("{}"), Some(&policy), Looked::ForAll, true);
        let expected: Vec<&str> = Some(expected).filter(|text| !text.is_empty()).into_iter().collect();
        assert_eq!(found, expected, "{shown}");
    }
}

/// Settings, and the names of tools, that are held against each other with every command.
#[test]
fn long_lists_take_little_work() {
    let names = |count: usize, start: &str| (0..count).map(|nth| format!("{start}_{nth:05}_of_it")).collect::<Vec<_>>();
    let entries = names(20_000, "absent_tool");
    let lists = [
        json!({"mcpServers": {"github": {"command": "x", "excludeTools": entries}}}),
        json!({"tools": {"exclude": entries}}),
        json!({"tools": {"exclude": entries.iter().map(|name| format!("github__{name}")).collect::<Vec<_>>()}}),
        json!({"mcp": {"excluded": entries}}),
    ];
    let tools = names(2_000, "present_tool");
    for list in lists {
        let settings = settings(&list.to_string());
        let offer = OfferedTools { server: "github", builtin: None, tools: tools.iter().map(String::as_str).collect() };
        let known = Known { servers: offer.tools.clone(), offers: vec![offer], is_complete: true };
        let dirs = HostDirs { user: "/u".into(), system: "/y".into(), home: None };
        let env = HostEnv { vars: [].into(), dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) };
        let set = resolve(&settings.layers, &Switches::default(), &env);
        let servers: Vec<&ServerConfig> = set.active.iter().map(AsRef::as_ref).collect();
        let begun = Instant::now();
        let found = unmatched(&settings, &servers, None, &known, Looked::ForMistyped);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?} for {}", begun.elapsed(), found.len());
    }
}
