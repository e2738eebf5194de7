//! The packages that `packaging/build` makes of this program, installed in a sealed place and run from there.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use toolgate_testkit::command::{CommandOutput, TestCommand};

use crate::installed::repository;
use crate::room::Room;

/// Packing a program with all its symbols takes a while on a machine that is busy.
const BUILD_MAX: Duration = Duration::from_secs(80);

/// Lintian reads the program several times.
const LINTIAN_MAX: Duration = Duration::from_secs(300);

/// The versions of all packages are the one of this crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The time of the packages: any, but the same for all.
const EPOCH: &str = "1700000000";

/// Programs are found where the caller has them: Node is often installed in a home folder.
fn search_path() -> String {
    let path = std::env::vars_os().find(|(name, _)| name == "PATH").map(|(_, path)| path);
    path.and_then(|path: OsString| path.into_string().ok()).expect("PATH is set")
}

/// A program of the system, in the room.
fn program<'a>(room: &'a Room, name: &str) -> TestCommand<'a> {
    let path = search_path();
    let found = path.split(':').map(|folder| Path::new(folder).join(name)).find(|file| file.is_file());
    let file = found.unwrap_or_else(|| panic!("`{name}` is not installed; `./check` installs what its tests need"));
    room.world.command(file).env("PATH", path).timeout(BUILD_MAX)
}

#[track_caller]
fn run(command: TestCommand<'_>) -> CommandOutput {
    let output = command.run().expect("it ends");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    output
}

/// Builds one package under that mask.
fn build(room: &Room, kind: &str, file: &str, mask: &str) -> PathBuf {
    let out = room.world.root().join(format!("packages-{mask}"));
    let line = format!("umask {mask} && exec \"$@\"");
    let script = repository().join("packaging/build").display().to_string();
    let words = ["-c", &line, "bash", &script, "--quick", "--binary", env!("CARGO_BIN_EXE_toolgate"), "--out"];
    let build = program(room, "bash").args(words).arg(&out).arg(kind);
    let built = run(build.env("SOURCE_DATE_EPOCH", EPOCH));
    let package = out.join(file);
    assert_eq!(built.stdout.trim_end(), package.display().to_string());
    package
}

/// Builds one package twice, the second time under another mask, and compares them.
fn build_twice(room: &Room, kind: &str, file: &str) -> PathBuf {
    let packages = ["022", "077"].map(|mask| build(room, kind, file, mask));
    let [first, second] = packages.each_ref().map(|package| std::fs::read(package).expect("the package is there"));
    assert!(first == second, "two packages of one program differ: {packages:?}");
    let [package, _] = packages;
    package
}

/// Checks that an installed program works.
fn check_program(room: &Room, installed: &Path) {
    let run_it = |line: &str| {
        let command = room.world.command(installed).args(line.split_whitespace()).env("PATH", search_path());
        command.run().expect("it ends")
    };
    for (line, code, expected) in [
        ("--version", 0, format!("toolgate {VERSION}\n")),
        ("tools", 0, "  read_file ".to_owned()),
        ("call read_file path=notes.txt", 0, "some notes".to_owned()),
        ("--not-an-option", 2, String::new()),
        ("call no_such_tool", 7, String::new()),
    ] {
        let output = run_it(line);
        assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
        assert!(output.stdout.contains(&expected), "{line}: {}", output.transcript());
    }
}

fn room_with_notes() -> Room {
    let room = Room::empty();
    room.write_in_workspace("notes.txt", "some notes\n");
    room
}

/// Files below a folder, from there.
fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => waiting.push(path),
                false => files.push(path.strip_prefix(folder).expect("it is below").display().to_string()),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_debian_package_installs_runs_and_can_be_removed() {
    let room = room_with_notes();
    let package = build_twice(&room, "deb", &debian_file());
    let root = room.world.root().join("system");
    std::fs::create_dir_all(root.join("var/lib/dpkg/updates")).expect("a folder");
    std::fs::create_dir_all(root.join("var/lib/dpkg/info")).expect("a folder");
    std::fs::write(root.join("var/lib/dpkg/status"), "").expect("a file");
    let dpkg = || {
        let place = format!("--root={}", root.display());
        program(&room, "dpkg")
            .args(["--force-not-root", "--force-bad-path", "--force-depends", "--log=/dev/null"])
            .arg(place)
    };
    run(dpkg().arg("--install").arg(&package));

    check_program(&room, &root.join("usr/bin/toolgate"));
    check_pages(&room, &root.join("usr/share/man/man1"));
    check_bash(&room, &root);
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/user/toolgate.service")).expect("the unit is there");
    for line in ["ExecStart=/usr/bin/toolgate up --foreground", "ExecStop=/usr/bin/toolgate down"] {
        assert!(unit.lines().any(|found| found == line), "{unit}");
    }

    run(dpkg().args(["--remove", "toolgate"]));
    assert_eq!(files_below(&root.join("usr")), Vec::<String>::new());
}

/// Every page is shown without a complaint, and examples keep their lines.
fn check_pages(room: &Room, folder: &Path) {
    let pages = files_below(folder);
    assert!(pages.len() > 40, "{pages:?}");
    let man = program(room, "man").args(["--warnings", "-Tutf8", "-P", "cat", "-l"]).folder(folder);
    let man = man.env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100").env("MAN_KEEP_STDERR", "1");
    let shown = run(man.args(pages.iter().map(String::as_str)));
    assert_eq!(shown.stderr, "");
    let plain = without_overstrikes(&shown.stdout);
    for page in &pages {
        let name = page.trim_end_matches(".1.gz");
        assert!(plain.contains(&format!("{name}(1)")), "{page}: {plain}");
    }
    let line = "\n         toolgate up                 start it, if it does not run already\n";
    assert!(plain.contains(line), "{plain}");
}

/// The visible text: bold letters are not repeated over themselves, and escape sequences are gone.
fn without_overstrikes(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{8}' => drop(plain.pop()),
            '\u{1b}' => letters.by_ref().take_while(|letter| *letter != 'm').for_each(drop),
            _ => plain.push(letter),
        }
    }
    plain
}

/// Bash loads the completions from where its completion package looks for them, and gets answers.
fn check_bash(room: &Room, root: &Path) {
    let script = root.join("usr/share/bash-completion/completions/toolgate");
    let line = "source \"$1\" && COMP_WORDS=(toolgate too) COMP_CWORD=1 COMP_TYPE=9 && \
                _clap_complete_toolgate toolgate too toolgate && echo \"${COMPREPLY[@]}\" && complete -p toolgate";
    let bash = program(room, "bash").args(["--norc", "--noprofile", "-c", line, "bash"]).arg(script);
    let output = run(bash.env("PATH", format!("{}:{}", root.join("usr/bin").display(), search_path())));
    assert!(output.stdout.starts_with("tools\n"), "{}", output.transcript());
    assert!(output.stdout.contains("-F _clap_complete_toolgate toolgate"), "{}", output.transcript());
}

fn debian_file() -> String {
    format!("toolgate_{VERSION}_amd64.deb")
}

#[test]
fn the_debian_package_passes_lintian_where_it_is_installed() {
    if !search_path().split(':').any(|folder| Path::new(folder).join("lintian").is_file()) {
        eprintln!("lintian is not installed, and nothing was checked");
        return;
    }
    let room = Room::empty();
    let package = build(&room, "deb", &debian_file(), "022");
    let words = ["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"];
    run(program(&room, "lintian").args(words).arg(package).timeout(LINTIAN_MAX));
}

#[test]
fn the_npm_package_installs_without_a_network_and_passes_everything_on() {
    let room = room_with_notes();
    let package = build_twice(&room, "npm", &format!("toolgate-{VERSION}.tgz"));
    let place = room.world.root().join("installed");
    std::fs::create_dir_all(&place).expect("a folder");
    let words = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
    run(program(&room, "npm").args(words).arg(&place).arg(&package).folder(&place));
    let launcher = place.join("node_modules/.bin/toolgate");
    check_program(&room, &launcher);
    check_streams(&room, &launcher);
    check_signal(&room, &launcher);
}

/// Another client starts the server of the package, and reads and writes through the launcher.
fn check_streams(room: &Room, launcher: &Path) {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    let server = room.world.command(launcher).arg("workspace-server").env("PATH", search_path());
    let output = run(server.input(format!("{hello}\n")));
    assert!(output.stdout.contains("\"serverInfo\""), "{}", output.transcript());
}

/// A signal to the launcher ends the program, which has the time to end its servers.
fn check_signal(room: &Room, launcher: &Path) {
    let mut runtime = Command::new(launcher)
        .args(["up", "--foreground", "--json"])
        .env_clear()
        .envs(room.world.variables())
        .env("PATH", search_path())
        .current_dir(room.world.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let stdout = runtime.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it says that it is up");
    let said: serde_json::Value = serde_json::from_str(&line).expect("one object");
    assert_ne!(said["pid"], serde_json::json!(runtime.id()), "the launcher is another process");
    run(program(room, "kill").args(["-TERM", &runtime.id().to_string()]));
    let ended = runtime.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0), "{ended}");
    let pid = said["pid"].as_u64().expect("a number");
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the program has ended too");
}
