//! The four scenarios and the two environments that lists of tools are meant for, each as it is written in a settings file.

use serde_json::{Value, json};

use super::{Arguments, FilterVerdict, Strictness, ToolFilter, Visibility};

/// A filter from the entry of a server.
fn server(entry: &Value) -> ToolFilter {
    let texts = |key: &str| -> Option<Vec<String>> {
        entry
            .get(key)
            .map(|list| list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect())
    };
    let filter =
        ToolFilter::of(texts("includeTools").as_deref(), &texts("excludeTools").unwrap_or_default(), Strictness::Open);
    assert_eq!(filter.problems(), []);
    filter
}

fn shown<'a>(filter: &ToolFilter, tools: &[&'a str]) -> Vec<&'a str> {
    tools.iter().copied().filter(|tool| filter.visibility(tool) == Visibility::Shown).collect()
}

fn passes(filter: &ToolFilter, tool: &str, arguments: &Value) -> bool {
    filter.judge(tool, &Arguments::new(arguments)) == FilterVerdict::Permitted
}

const TOOLS: [&str; 6] = ["read_file", "list_directory", "write_file", "edit_file", "run_shell_command", "web_search"];

#[test]
fn scenario_one_only_listed_tools() {
    let filter = server(&json!({"includeTools": ["read_file", "list_directory"], "excludeTools": []}));
    assert_eq!(shown(&filter, &TOOLS), ["read_file", "list_directory"]);
    assert!(passes(&filter, "read_file", &json!({"path": "/etc/passwd"})));
    assert!(!passes(&filter, "write_file", &json!({"path": "a"})));
    assert!(!passes(&filter, "run_shell_command", &json!({"command": "ls"})));
}

#[test]
fn scenario_two_everything_but_dangerous_calls() {
    let filter = server(&json!({
        "includeTools": ["*"],
        "excludeTools": ["run_shell_command(rm -rf)", "write_file(/etc/passwd)"],
    }));
    assert_eq!(shown(&filter, &TOOLS), TOOLS);
    assert!(passes(&filter, "run_shell_command", &json!({"command": "ls -l && rm notes.txt"})));
    for command in ["rm -rf /", "cd x && rm -rf y", "sudo rm -fr /", "echo $(rm -rf x)", "sh -c 'rm -rf x'", "rm 'x"] {
        assert!(!passes(&filter, "run_shell_command", &json!({"command": command})), "{command}");
    }
    assert!(passes(&filter, "write_file", &json!({"path": "/etc/hosts"})));
    for path in ["/etc/passwd", "/etc/../etc/passwd", "//etc/passwd", "file:///etc/passwd", "/tmp/../etc/passwd"] {
        assert!(!passes(&filter, "write_file", &json!({"file_path": path, "content": "x"})), "{path}");
    }
    assert!(passes(&filter, "read_file", &json!({"path": "/etc/passwd"})));
}

#[test]
fn scenario_three_only_certain_calls_of_one_tool() {
    let filter = server(&json!({
        "includeTools": ["run_shell_command(ls)", "run_shell_command(pwd)"],
        "excludeTools": ["run_shell_command(*)"],
    }));
    assert_eq!(shown(&filter, &TOOLS), ["run_shell_command"]);
    for command in ["ls", "ls -la /etc", "pwd", "ls && pwd", "ls; ls | ls"] {
        assert!(passes(&filter, "run_shell_command", &json!({"command": command})), "{command}");
    }
    for command in ["rm x", "ls && rm x", "ls `rm x`", "lsof", "./ls", "ls > x", "PATH=. ls", "ls 'x", ""] {
        assert!(!passes(&filter, "run_shell_command", &json!({"command": command})), "{command}");
    }
    assert!(!passes(&filter, "run_shell_command", &json!({})));
}

#[test]
fn scenario_four_excluding_wins() {
    let filter = server(&json!({"includeTools": ["dangerous_tool"], "excludeTools": ["dangerous_tool"]}));
    assert_eq!(shown(&filter, &["dangerous_tool"]), [""; 0]);
    assert!(!passes(&filter, "dangerous_tool", &json!({})));
}

/// `tools.allowed` answers no question of the filter; what is excluded everywhere is excluded at each server.
#[test]
fn environment_of_development_has_no_shell() {
    let filter = server(&json!({"excludeTools": ["run_shell_command(*)"]}));
    assert_eq!(shown(&filter, &TOOLS), ["read_file", "list_directory", "write_file", "edit_file", "web_search"]);
    assert!(!passes(&filter, "run_shell_command", &json!({"command": "ls"})));
    assert!(passes(&filter, "write_file", &json!({"path": "a"})));
}

#[test]
fn environment_of_production_only_reads() {
    let filter = server(&json!({"excludeTools": ["write_file", "run_shell_command", "edit_file"]}));
    assert_eq!(shown(&filter, &TOOLS), ["read_file", "list_directory", "web_search"]);
    for tool in ["write_file", "run_shell_command", "edit_file"] {
        assert!(!passes(&filter, tool, &json!({})), "{tool}");
    }
}
