//! Which calls a pattern reaches, as a permission and as a restriction. Every case names the section of the behaviour it proves.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::filter::Entry;

/// Whether the pattern permits and whether it restricts.
fn reaches(pattern: &str, arguments: &Arguments<'_>) -> (bool, bool) {
    let entry = Entry::parse(&format!("t({pattern})")).unwrap();
    let pattern = entry.arguments.unwrap();
    (pattern.matches(arguments, Reach::Permission), pattern.matches(arguments, Reach::Restriction))
}

#[track_caller]
fn check(cases: &[(&str, &str, Value, bool, bool)]) {
    let mut wrong = Vec::new();
    for (section, pattern, value, permits, restricts) in cases {
        let arguments = Arguments::new(value).in_folder(Path::new("/w")).at_home(Path::new("/home/u"));
        let found = reaches(pattern, &arguments);
        if found != (*permits, *restricts) {
            wrong.push(format!("{section} ({pattern}) {value}: permits {}, restricts {}", found.0, found.1));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn places() {
    check(&[
        ("5.3 equal", "/etc/passwd", json!({"path": "/etc/passwd"}), true, true),
        ("5.3 equal", "/etc/passwd", json!({"path": "/etc/passwd2"}), false, false),
        ("5.3 below", "/etc", json!({"file_path": "/etc/passwd"}), true, true),
        ("5.3 below", "src", json!({"dir_path": "src/a"}), true, true),
        ("5.3 below", "src", json!({"path": "src2/a"}), false, false),
        ("5.3 above", "src/a", json!({"path": "src"}), false, false),
        ("5.3 normalised", "src", json!({"path": "./src//a"}), true, true),
        ("5.3 normalised", "./src/", json!({"path": "src/a"}), true, true),
        ("5.3 normalised", "src", json!({"path": "lib/../src/a"}), false, true),
        ("5.3 climbing", "src", json!({"path": "src/../etc/x"}), false, false),
        ("5.3 climbing", "src", json!({"path": "src/../../w/src/x"}), false, true),
        ("5.3 climbing", "/etc/passwd", json!({"path": "../etc/passwd"}), false, true),
        ("5.3 climbing", "/etc/passwd", json!({"path": "../../../../etc/passwd"}), false, true),
        ("5.3 climbing", ".", json!({"path": "../x"}), false, false),
        ("5.3 climbing", "..", json!({"path": "../../x"}), false, true),
        ("5.3 absolute", "src", json!({"path": "/w/src/a"}), true, true),
        ("5.3 absolute", "/w/src", json!({"path": "src/a"}), true, true),
        ("5.3 absolute", "src", json!({"path": "/elsewhere/src/a"}), false, false),
        ("5.3 absolute", "/w", json!({"path": "a"}), true, true),
        ("5.3 absolute", "/", json!({"path": "a"}), true, true),
        ("5.3 home", "~/.ssh", json!({"path": "/home/u/.ssh/id"}), true, true),
        ("5.3 home", "/home/u/.ssh", json!({"path": "~/.ssh/id"}), true, true),
        ("5.3 home", "~/.ssh", json!({"path": "$HOME/.ssh/id"}), false, true),
        ("5.3 home", "/home/v/.ssh", json!({"path": "~/../v/.ssh"}), false, true),
        ("5.3 home", "~/.ssh", json!({"path": "../home/u/.ssh"}), false, true),
        ("5.3 home", ".", json!({"path": "~/x"}), false, false),
        ("5.3 spelling", "/etc/passwd", json!({"path": "/ETC/Passwd"}), false, true),
        ("5.3 spelling", "/etc/passwd", json!({"path": "\\etc\\passwd"}), false, true),
        ("5.3 spelling", "/etc/passwd", json!({"path": " /etc/passwd\n"}), false, true),
        ("5.3 spelling", "/etc/passwd", json!({"path": "/etc/passwd\u{0}.txt"}), false, true),
        ("5.3 spelling", "/etc/passwd", json!({"uri": "file:///etc/passwd"}), true, true),
        ("5.3 spelling", "file:///etc/passwd", json!({"path": "/etc/passwd"}), true, true),
        ("5.3 spelling", "/etc/passwd", json!({"uri": "file:///etc/%70asswd"}), true, true),
        ("5.3 spelling", "/etc/passwd", json!({"uri": "file:///etc/x/%2e%2e/passwd"}), false, true),
        ("5.3 spelling", "src", json!({"path": "src\\..\\..\\etc"}), false, false),
        ("5.3 address", "https://x.org", json!({"url": "https://X.org:443/a"}), true, true),
        ("5.3 address", "https://x.org", json!({"url": "https://u:p@x.org/a"}), false, true),
        ("5.3 address", "https://x.org", json!({"url": "https://x.org.evil.net/"}), false, false),
        ("5.3 address", "https://x.org", json!({"url": "http://x.org/"}), false, false),
        ("5.3 address", "x.org", json!({"url": "https://x.org:8443/a"}), false, true),
        ("5.3 address", "https://x.org/a", json!({"url": "x.org/a/b"}), false, true),
        ("5.3 address", "https://x.org/a", json!({"url": "https://x.org/a?q=1"}), false, true),
        ("5.3 address", "http://", json!({"url": "http://any/"}), true, true),
        ("5.3 address", "http://", json!({"url": "https://any/"}), false, false),
        ("5.3 glob", "src/*.rs", json!({"path": "src/a.rs"}), true, true),
        ("5.3 glob", "src/*.rs", json!({"path": "src/a/b.rs"}), false, true),
        ("5.3 glob", "**/.env", json!({"path": "a/b/.env"}), true, true),
        ("5.3 glob", "*.pem", json!({"path": "../x/../../etc/key.pem"}), false, true),
    ]);
}

#[test]
fn which_arguments_count() {
    check(&[
        ("5.3 several", "src", json!({"path": "src/a", "file_path": "lib/b"}), false, true),
        ("5.3 several", "src", json!({"path": "src/a", "file_path": "src/b"}), true, true),
        ("5.3 several", "src", json!({"path": "src/a", "destination": "/etc/x"}), false, true),
        ("5.3 several", "/etc", json!({"path": "src/a", "destination": "/etc/x"}), false, true),
        ("5.3 several", "/etc", json!({"path": "src/a", "weird": "/etc/x"}), false, true),
        ("5.3 list", "src", json!({"path": ["src/a", "lib/b"]}), false, true),
        ("5.3 list", "src", json!({"path": ["src/a", "src/b"]}), true, true),
        ("5.3 list", "src", json!({"path": []}), false, false),
        ("5.3 nested", "src", json!({"edits": [{"path": "src/a"}, {"path": "/etc/b"}]}), false, true),
        ("5.3 beside", "src", json!({"path": "src/a", "content": "anything /etc/x"}), true, true),
        ("5.3 beside", "/etc", json!({"path": "src/a", "content": "/etc is a folder"}), false, false),
        ("5.3 beside", "src", json!({"path": "src/a", "dir_path": null}), true, true),
        ("5.3 any string", "src", json!({"name": "src/a"}), true, true),
        ("5.3 any string", "src", json!({"name": "src/a", "other": "b"}), false, true),
        ("5.3 any string", "rm -rf", json!({"cmd": "rm  -rf /"}), false, true),
        ("5.3 any string", "rm -rf", json!({"cmd": "rm -rfx"}), false, false),
        ("5.3 any string", "5", json!({"n": 5}), false, true),
        ("5.3 nothing", "src", json!({}), false, false),
        ("5.3 nothing", "src", json!(null), false, false),
        ("5.3 nothing", "src", json!({"path": null}), false, false),
        ("5.3 nothing", "src", json!({"path": {"a": 1}}), false, false),
    ]);
}

#[test]
fn named_arguments() {
    check(&[
        ("5.3 key", "path=src", json!({"path": "src/a", "destination": "/etc"}), true, true),
        ("5.3 key", "path=src", json!({"file_path": "src/a"}), false, false),
        ("5.3 key", "path=src", json!({"path": "src/../etc"}), false, false),
        ("5.3 key", "branch=main", json!({"branch": "main"}), true, true),
        ("5.3 key", "branch=main", json!({"branch": "mainline"}), false, false),
        ("5.3 key", "branch=Main", json!({"branch": "main"}), false, true),
        ("5.3 key", "branch=release-*", json!({"branch": "release-1"}), true, true),
        ("5.3 key", "query=SELECT *", json!({"query": "SELECT a/b FROM t"}), true, true),
        ("5.3 key", "query=DROP", json!({"query": "drop table t"}), false, true),
        ("5.3 key", "root=s*", json!({"root": "src/../../etc"}), false, true),
        ("5.3 key", "name=s*", json!({"name": "src/../../etc"}), false, true),
        ("5.3 key", "force=true", json!({"force": true}), true, true),
        ("5.3 key", "force=true", json!({"force": false}), false, false),
        ("5.3 key", "count=5", json!({"count": 5}), true, true),
        ("5.3 key", "count=5", json!({"count": 5.0}), false, true),
        ("5.3 key", "count=5", json!({"count": 50}), false, false),
        ("5.3 key", "x=null", json!({"x": null}), true, true),
        ("5.3 key", "x=*", json!({"x": {"deep": 1}}), true, true),
        ("5.3 key", "x=*", json!({"y": 1}), false, false),
        ("5.3 key list", "tags=a", json!({"tags": ["a", "b"]}), false, true),
        ("5.3 key list", "tags=a", json!({"tags": ["a", "a"]}), true, true),
        ("5.3 key list", "tags=a", json!({"tags": []}), false, false),
        ("5.3 key list", "tags=a", json!({"tags": [["a"]]}), true, true),
        ("5.3 key dots", "o.p=1", json!({"o": {"p": 1}}), true, true),
        ("5.3 key dots", "o.p=1", json!({"o.p": 1}), true, true),
        ("5.3 key dots", "o.p=1", json!({"o.p": 1, "o": {"p": 2}}), false, true),
        ("5.3 key dots", "o.p=1", json!({"o": [{"p": 1}, {"p": 2}]}), false, true),
        ("5.3 key dots", "o.p=1", json!({"o": [{"p": 1}, {}]}), false, true),
        ("5.3 key dots", "o.p=1", json!({"o": [{"p": 1}, {"p": 1}]}), true, true),
        ("5.3 key dots", "o=1", json!({"o": {"p": 1}}), false, true),
    ]);
}

#[test]
fn shell_cases() {
    check(&[
        ("5.3 command", "ls", json!({"command": "ls"}), true, true),
        ("5.3 command", "ls", json!({"command": "ls -la /etc"}), true, true),
        ("5.3 command", "ls", json!({"command": "lsof"}), false, false),
        ("5.3 command", "git status", json!({"command": "git push"}), false, false),
        ("5.3 command", "git", json!({"command": "git status && rm x"}), false, true),
        ("5.3 command", "rm", json!({"command": "ls; rm x"}), false, true),
        ("5.3 command", "rm", json!({"command": "echo $(rm x)"}), false, true),
        ("5.3 command", "ls", json!({"command": "ls | tee x"}), false, true),
        ("5.3 command", "rm -rf", json!({"command": "rm -rf /"}), true, true),
        ("5.3 command", "rm -rf", json!({"command": "rm -r -f /"}), false, true),
        ("5.3 command", "rm -rf", json!({"command": "/bin/rm -rf /"}), false, true),
        ("5.3 command", "rm -rf", json!({"command": "sudo rm -rf /"}), false, true),
        ("5.3 command", "rm -rf", json!({"command": "bash -c 'rm -rf /'"}), true, true),
        ("5.3 command", "rm -rf", json!({"command": "rm file"}), false, false),
        ("5.3 folder", "/usr/sbin", json!({"command": "/usr/sbin/reboot now"}), false, true),
        ("5.3 folder", "/usr/sbin", json!({"command": "ls /usr/sbin"}), false, false),
        ("5.3 wrapper", "ls", json!({"command": "timeout 5 ls"}), true, true),
        ("5.3 wrapper", "timeout", json!({"command": "timeout 5 rm x"}), false, true),
        ("5.3 assignment", "ls", json!({"command": "LD_PRELOAD=x ls"}), false, true),
        ("5.3 assignment", "ls", json!({"command": "env LD_PRELOAD=x ls"}), false, true),
        ("5.3 assignment", "LD_PRELOAD=*", json!({"command": "LD_PRELOAD=x ls"}), false, true),
        ("5.3 assignment", "LD_PRELOAD=/a", json!({"command": "export LD_PRELOAD=/a/b; ls"}), false, true),
        ("5.3 assignment", "is_background=true", json!({"command": "ls"}), false, false),
        ("5.3 unreadable", "ls", json!({"command": "ls 'unfinished"}), false, true),
        ("5.3 unreadable", "pwd", json!({"command": "$X -rf"}), false, true),
        ("5.3 unreadable", "x=1", json!({"command": "ls 'unfinished"}), false, true),
        ("5.3 redirection", "ls", json!({"command": "ls > ~/.bashrc"}), false, true),
        ("5.3 redirection", "ls", json!({"command": "(ls) > x"}), false, true),
        ("5.3 redirection", "ls", json!({"command": "ls 2>/dev/null"}), true, true),
        ("5.3 redirection", "ls", json!({"command": "ls 2>&1; ls > /dev/null"}), true, true),
        ("5.3 redirection", "ls", json!({"command": "ls '2>&1' > x"}), false, true),
        ("5.3 redirection", "ls", json!({"command": "ls 2>&1 > x"}), false, true),
        ("5.3 glob", "npm run test:*", json!({"command": "npm run test:unit"}), true, true),
        ("5.3 glob", "npm run test:*", json!({"command": "npm run build"}), false, false),
        ("5.3 glob", "git *", json!({"command": "git log"}), true, true),
        ("5.3 glob", "git *", json!({"command": "github"}), false, false),
        ("5.3 glob", "git pu*", json!({"command": "git $X"}), false, true),
        ("5.3 glob", "rm *-rf*", json!({"command": "rm -v -rf x"}), false, true),
        ("5.3 glob", "ls*", json!({"command": "A=b ls"}), false, true),
        ("5.3 key", "command=ls", json!({"command": "ls -l"}), true, true),
        ("5.3 key", "command=ls", json!({"command": "ls; rm x"}), false, true),
        ("5.3 key", "command=*", json!({"command": "anything 'unfinished"}), true, true),
        ("5.3 words", "rm -rf", json!({"command": ["rm", "-rf", "/"]}), true, true),
        ("5.3 words", "rm -rf", json!({"command": "rm", "args": ["-rf", "/"]}), true, true),
        ("5.3 words", "ls", json!({"command": "ls", "args": [";", "rm x"]}), false, true),
        ("5.3 words", "rm", json!({"command": "ls", "args": "; rm x"}), false, true),
        ("5.3 words", "ls", json!({"command": ["ls", {"x": 1}]}), false, true),
        ("5.3 words", "ls", json!({"command": "ls", "args": []}), true, true),
        ("5.3 both", "/etc/passwd", json!({"command": "view", "path": "/etc/passwd"}), false, true),
        ("5.3 both", "view", json!({"command": "view", "path": "/etc/passwd"}), true, true),
    ]);
}

#[test]
fn patterns_permit_together() {
    let read = |patterns: &[&str]| -> Vec<ArgumentPattern> {
        patterns.iter().map(|pattern| ArgumentPattern::parse(pattern).unwrap()).collect()
    };
    let cases: [(&[&str], Value, bool); 9] = [
        (&["ls", "pwd"], json!({"command": "ls && pwd"}), true),
        (&["ls", "pwd"], json!({"command": "ls && rm x"}), false),
        (&["ls", "command=pwd"], json!({"command": "ls && pwd"}), true),
        (&["src", "docs"], json!({"path": ["src/a", "docs/b"]}), true),
        (&["src", "docs"], json!({"path": ["src/a", "etc/b"]}), false),
        (&["tags=a", "tags=b"], json!({"tags": ["a", "b"]}), true),
        (&["tags=a", "name=b"], json!({"tags": ["a", "b"]}), false),
        (&["x=1", "*"], json!({}), true),
        (&[], json!({"path": "src"}), false),
    ];
    for (patterns, value, expected) in cases {
        let read = read(patterns);
        let all: Vec<&ArgumentPattern> = read.iter().collect();
        let found = ArgumentPattern::permit_together(&all, &Arguments::new(&value));
        assert_eq!(found, expected, "{patterns:?} {value}");
    }
}

#[test]
fn without_a_folder_a_restriction_reaches_what_could_be_meant() {
    let cases = [
        ("src/secret", "/any/where/src/secret/x", false, true),
        ("src/secret", "/any/src/other", false, false),
        ("/etc/passwd", "passwd", false, true),
        ("/etc/passwd", "etc/passwd", false, true),
        ("/etc/passwd", "../../etc/passwd", false, true),
        ("/etc/passwd", "src/passwd", false, false),
        ("/home/u/.ssh", "~/.ssh/id", false, true),
        ("~/.ssh", "/home/u/.ssh/id", false, true),
        ("src", "src/a", true, true),
        ("/etc", ".", false, false),
    ];
    for (pattern, path, permits, restricts) in cases {
        let value = json!({"path": path});
        assert_eq!(reaches(pattern, &Arguments::new(&value)), (permits, restricts), "{pattern} {path}");
    }
}

/// A text that can be read in more ways than can be looked at is what any restriction says, and what no permission does.
#[test]
fn what_can_be_read_in_too_many_ways_is_restricted() {
    let codes = format!("%{}", "25".repeat(40));
    let tails = [codes.clone(), format!("{}{codes}", "\\\n".repeat(3))];
    // pattern, arguments with `@` for the text, whether an ordinary text is restricted
    let cases = [
        ("DROP TABLE", json!({"sql": "DROP TABLE users -- @"}), true),
        ("DROP TABLE", json!({"sql": "@"}), false),
        ("sql=DROP TABLE*", json!({"sql": "DROP TABLE users @"}), true),
        ("sql=DROP TABLE*", json!({"sql": "@"}), false),
        ("content=SECRET", json!({"path": "a", "content": "@"}), false),
        ("DROP TABLE", json!({"path": "a", "content": "@"}), false),
        ("/etc", json!({"path": "@"}), false),
        ("path=/etc", json!({"path": "@"}), false),
    ];
    for (pattern, value, is_ordinary) in &cases {
        let with =
            |tail: &str| -> Value { serde_json::from_str(&value.to_string().replace('@', &json_text(tail))).unwrap() };
        assert_eq!(reaches(pattern, &Arguments::new(&with("plain"))).1, *is_ordinary, "{pattern} {value}");
        // A scheme is one only at the beginning of a text.
        let schemes = Some("x:".repeat(40)).filter(|_| value.to_string().contains("\"@\""));
        for tail in tails.iter().chain(&schemes) {
            let value = with(tail);
            let (permits, restricts) = reaches(pattern, &Arguments::new(&value).in_folder(Path::new("/w")));
            assert!(restricts && !permits, "{pattern} {value}");
        }
    }
}

/// A text as it stands within a JSON string.
fn json_text(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted.trim_matches('"').to_owned()
}
