//! Read-only commands in a folder with links of every kind on a real disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::leads_out;
use crate::asker::Asker;
use crate::filter::Arguments;
use crate::policy::{CallFacts, Decision, Mode, Policy, Presence, default_rules};
use crate::server_name::ServerName;

/// `home/ws` is the workspace; `home/secret` and `home/private/key` must stay hidden.
fn tree() -> TempDir {
    let room = tempfile::tempdir().unwrap();
    let at = |path: &str| room.path().join(path);
    for folder in ["ws/a/b", "ws/src/deep", "ws/src/docs", "private", "sibling"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for file in
        ["secret", "private/key", "sibling/x", "ws/notes.md", "ws/src/main.rs", "ws/src/deep/x.rs", "ws/src/docs/key"]
    {
        fs::write(at(file), "text\n").unwrap();
    }
    for (link, target) in [
        ("ws/README.md", "../secret"),
        ("ws/absolute", at("secret").to_str().unwrap()),
        ("ws/docs", "../private"),
        ("ws/src/out", "../../private"),
        ("ws/src/README", "../../secret"),
        ("ws/a/b/c", "../.."),
        ("ws/up", ".."),
        ("ws/chain", "chain2"),
        ("ws/chain2", "README.md"),
        ("ws/loop", "loop"),
        ("ws/dangling", "../not-there"),
        ("ws/inside", "src/main.rs"),
        ("ws/code", "src"),
        ("ws/again", "code"),
        ("ws/root", "/"),
        ("ws/self", "."),
    ] {
        symlink(target, at(link)).unwrap();
    }
    room
}

const ALLOW: Decision = Decision::Allow;
const ASK: Decision = Decision::Ask;

fn decision(arguments: &Value, workspace: &Path, is_distrusted: bool) -> Decision {
    let seen = Arguments::new(arguments).in_folder(workspace);
    let leads_out = is_distrusted || leads_out(&seen, &workspace.into());
    let seen = if leads_out { seen.leading_out() } else { seen };
    let server = ServerName::new("workspace").unwrap();
    let facts = CallFacts {
        server: &server,
        builtin: Some("workspace"),
        tool: "run_shell_command",
        arguments: &seen,
        annotations: &Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder: workspace,
        folder_is_trusted: true,
        remembered: None,
    };
    Policy::new(default_rules()).decide(&facts).decision
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn commands_that_only_look_see_nothing_outside_of_the_folder() {
    let room = tree();
    let workspace = room.path().join("ws").canonicalize().unwrap();
    let absolute = |name: &str| workspace.join(name).display().to_string();
    let cases: Vec<(String, Decision)> = [
        // Plain files and folders.
        ("cat notes.md", ALLOW),
        ("ls", ALLOW),
        ("ls -la", ALLOW),
        ("ls -R", ALLOW),
        ("ls src", ALLOW),
        ("cat src/main.rs src/deep/x.rs", ALLOW),
        ("head -n 5 notes.md | wc -l", ALLOW),
        ("grep -rn text src", ALLOW),
        ("grep -r text", ALLOW),
        ("find . -name '*.rs'", ALLOW),
        ("cat not/there/yet", ALLOW),
        ("cd src && ls && cat main.rs", ALLOW),
        ("pwd", ALLOW),
        ("cat /dev/null", ALLOW),
        ("cat src/../notes.md", ALLOW),
        // Links that stay inside.
        ("cat inside", ALLOW),
        ("cat code/main.rs", ALLOW),
        ("cat again/main.rs", ALLOW),
        ("cat self/notes.md", ALLOW),
        ("cat self/self/self/notes.md", ALLOW),
        ("ls code/", ALLOW),
        ("cd code && cat main.rs", ALLOW),
        ("cat a/b/c/notes.md", ALLOW),
        ("grep text inside", ALLOW),
        // Links out of the folder, at every place of a path and of a command line.
        ("cat README.md", ASK),
        ("cat ./README.md", ASK),
        ("cat src/../README.md", ASK),
        ("cat absolute", ASK),
        ("cat chain", ASK),
        ("cat self/README.md", ASK),
        ("cat code/README", ASK),
        ("cat docs/key", ASK),
        ("cat src/out/key", ASK),
        ("cat root/etc/passwd", ASK),
        ("cat notes.md README.md", ASK),
        ("cat -n README.md", ASK),
        ("cat -- README.md", ASK),
        ("cat 'README.md'", ASK),
        ("cat READ\\ME.md", ASK),
        ("cat loop", ASK),
        ("cat dangling", ASK),
        ("head -c 100 README.md", ASK),
        ("tail README.md", ASK),
        ("tac README.md", ASK),
        ("nl README.md", ASK),
        ("rev README.md", ASK),
        ("wc README.md", ASK),
        ("cut -d: -f1 README.md", ASK),
        ("paste notes.md README.md", ASK),
        ("uniq README.md", ASK),
        ("stat README.md", ASK),
        ("base64 README.md", ASK),
        ("sed -n 1,5p README.md", ASK),
        ("grep . README.md", ASK),
        ("grep -e . README.md", ASK),
        ("grep -f README.md notes.md", ASK),
        ("grep -fREADME.md notes.md", ASK),
        ("grep --file=README.md notes.md", ASK),
        ("ls docs", ASK),
        ("ls docs/", ASK),
        ("ls -l root/root", ASK),
        ("find docs/ -name key", ASK),
        ("cat notes.md && cat README.md", ASK),
        ("cat notes.md | grep -f README.md", ASK),
        ("echo $(cat README.md)", ASK),
        // `..` after a link.
        ("cat a/b/c/../secret", ASK),
        ("ls a/b/c/..", ASK),
        ("cat code/../../ws/README.md", ASK),
        ("cat up/secret", ASK),
        ("ls up", ASK),
        ("cd a/b/c/.. && cat secret", ASK),
        // Commands that follow the links they find.
        ("grep -R text", ASK),
        ("grep -rR text .", ASK),
        ("grep -inR text src", ASK),
        ("grep --dereference-recursive text", ASK),
        ("find -L . -name key", ASK),
        ("find . -follow -name key", ASK),
        ("ls -LR", ASK),
        ("/usr/bin/rg --follow text", ASK),
        ("/usr/bin/rg -L text", ASK),
        ("/usr/bin/rg -uL text", ASK),
        ("find docs -follow", ASK),
        ("find -P -L .", ASK),
        ("find -H docs", ASK),
        ("find -files0-from list0", ASK),
        ("find . -newer README.md", ASK),
        ("ls -L", ASK),
        ("ls -lL", ASK),
        ("ls -HR docs", ASK),
        ("ls --deref", ASK),
        ("ls -l docs/*", ASK),
        ("echo up/*", ASK),
        // Options with a file attached, and files whose names are read from a file.
        ("/usr/bin/rg -fREADME.md notes.md", ASK),
        ("/usr/bin/rg -nfREADME.md notes.md", ASK),
        ("/usr/bin/rg --file README.md notes.md", ASK),
        ("/usr/bin/rg --ignore-file=README.md text", ASK),
        ("git diff -OREADME.md", ASK),
        ("git diff --no-index notes.md README.md", ASK),
        ("git diff /dev/null docs/key", ASK),
        ("git log --pathspec-from-file=README.md", ASK),
        ("wc --files0-from=notes.md", ASK),
        ("wc --fil=notes.md", ASK),
        ("grep -vnf README.md notes.md", ASK),
        ("grep --exclude-from=README.md -r text src", ASK),
        ("grep -d recurse text docs", ASK),
        ("stat -L README.md", ASK),
        ("numfmt < README.md", ASK),
        ("cat < README.md", ASK),
        ("cat <<< \"$(cat README.md)\"", ASK),
        ("cat /dev/fd/0 < README.md", ASK),
        ("cat /dev/stdin", ASK),
        // Programs that read, and are not known to look only.
        ("tar cf - docs", ASK),
        ("diff -r src docs", ASK),
        ("sort README.md", ASK),
        ("od -c README.md", ASK),
        ("dd if=README.md", ASK),
        // Places that the kernel makes up.
        ("cat /proc/self/cwd/notes.md", ASK),
        ("cat root/proc/self/environ", ASK),
        ("cat /proc/self/environ", ASK),
        // Words that become others.
        ("cat READ*", ASK),
        ("cat {README.md,notes.md}", ASK),
        ("cat ~/key", ASK),
        ("cat \"$OLDPWD/secret\"", ASK),
        ("f=README.md; cat $f", ASK),
        ("cat nothere/../../secret", ASK),
        ("cat notes.md/../README.md", ASK),
        ("cat code/deep/../README", ASK),
        // Effects of `cd` on later commands.
        ("cd docs && cat key", ASK),
        ("cd src && cat README", ASK),
        ("cd src && cat out/key", ASK),
        ("cd src; cd deep; cat ../README", ASK),
        ("cd src/deep && cat x.rs", ALLOW),
        ("cd src && cd docs && cat key", ASK),
        ("CDPATH=/ cd etc && cat passwd", ASK),
        ("export CDPATH=/; cd etc; cat passwd", ASK),
        ("pushd src && cat README", ASK),
        ("cd; cat secret", ASK),
        ("cd - ; ls", ASK),
        ("(cd docs; cat key)", ASK),
        ("{ cd docs; ls; }", ASK),
        ("cd docs & cat key", ASK),
        ("cd -P a/b/c/.. && cat secret", ASK),
        ("cd a/b/c && cd .. && cat secret", ASK),
        ("cd code && cat ../../secret", ASK),
        ("cd src/deep; cd ../../..; cat secret", ASK),
        ("cd ~+; cat README.md", ASK),
        ("cd \"$HOME\" && cat key", ASK),
        ("HOME=docs cd && ls", ASK),
        ("OLDPWD=docs; cd -; cat key", ASK),
        ("builtin cd docs && cat key", ASK),
        ("read CDPATH < notes.md; cd private; ls", ASK),
        ("printf -v CDPATH ..; cd private; ls", ASK),
        ("for CDPATH in ..; do cd private; ls; done", ASK),
        (": ${CDPATH:=..}; cd private; ls", ASK),
    ]
    .into_iter()
    .map(|(command, expected)| (command.to_owned(), expected))
    .chain([
        (format!("cat {}", absolute("notes.md")), ALLOW),
        (format!("cat {}", absolute("README.md")), ASK),
        (format!("cat {}", absolute("docs/key")), ASK),
        (format!("cat {}", absolute("a/b/c/../secret")), ASK),
        (format!("cat{}", " notes.md".repeat(201)), ASK),
    ])
    .collect();
    assert!(cases.len() >= 140, "{}", cases.len());
    for (command, expected) in &cases {
        let arguments = json!({ "command": command });
        assert_eq!(decision(&arguments, &workspace, false), *expected, "{command}");
        assert_eq!(decision(&arguments, &workspace, true), ASK, "in a folder that is not trusted: {command}");
    }
}

#[test]
fn the_folder_that_a_command_starts_in_counts() {
    let room = tree();
    let workspace = room.path().join("ws").canonicalize().unwrap();
    let cases = [
        (json!({"command": "cat main.rs", "cwd": "src"}), ALLOW),
        (json!({"command": "cat main.rs", "cwd": "code"}), ALLOW),
        (json!({"command": "cat main.rs", "cwd": null}), ALLOW),
        (json!({"command": "cat README", "cwd": "src"}), ASK),
        (json!({"command": "cat out/key", "cwd": "src"}), ASK),
        (json!({"command": "cat key", "cwd": "docs"}), ASK),
        (json!({"command": "cat secret", "cwd": "a/b/c/.."}), ASK),
        (json!({"command": "cat secret", "cwd": ".."}), ASK),
        (json!({"command": "cat secret", "cwd": "up"}), ASK),
        (json!({"command": "ls", "cwd": ["src"]}), ASK),
    ];
    for (arguments, expected) in cases {
        assert_eq!(decision(&arguments, &workspace, false), expected, "{arguments}");
    }
}
