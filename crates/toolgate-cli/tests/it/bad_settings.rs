//! Settings files that are none: each is named with the place, ends the command with exit code 2, and stays as it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolgate_testkit::command::CommandOutput;

use crate::room::Room;

/// Longer than the program waits for a pipe, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a settings file can be bad.
#[derive(Clone, Copy, Debug)]
enum Place {
    User,
    Config,
}

impl Place {
    const BOTH: [Self; 2] = [Self::User, Self::Config];

    fn path(self, room: &Room) -> PathBuf {
        match self {
            Self::User => room.world.home().join(".toolgate/settings.json"),
            Self::Config => room.world.workspace().join("servers.json"),
        }
    }

    /// A world with nothing at that place, in a folder that is there.
    fn room(self) -> (Room, PathBuf) {
        let room = Room::new();
        let path = self.path(&room);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        (room, path)
    }

    fn run(self, room: &Room) -> CommandOutput {
        let words: &[&str] = match self {
            Self::User => &["mcp", "list"],
            Self::Config => &["mcp", "list", "--config", "servers.json"],
        };
        room.command(words.iter().copied()).timeout(PATIENCE).run().expect("it ends")
    }
}

/// What must be said of a file: after its name, or nothing because it is fine.
#[derive(Clone, Debug)]
enum Said {
    Refused(&'static str),
    Warned(&'static str),
    Nothing,
}

/// Puts something where a settings file is looked for.
type Put = fn(&Path);

fn check_output(output: &CommandOutput, path: &Path, said: &Said, case: &str) {
    let transcript = output.transcript();
    assert!(!transcript.contains("panicked") && !transcript.contains("RUST_BACKTRACE"), "{case}: {transcript}");
    let name = path.display().to_string();
    match said {
        Said::Refused(what) => {
            assert_eq!(output.code(), Some(2), "{case}: {transcript}");
            assert!(output.stderr.contains(&format!("error: {name}{what}")), "{case}: {transcript}");
            assert!(output.stderr.len() < 2_000, "{case}: {} bytes are said", output.stderr.len());
        }
        Said::Warned(what) => {
            assert_eq!(output.code(), Some(0), "{case}: {transcript}");
            assert!(output.stderr.contains(&format!("warning: {name}{what}")), "{case}: {transcript}");
        }
        Said::Nothing => assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "{case}: {transcript}"),
    }
}

fn check(case: &str, bytes: &[u8], said: &Said) {
    for place in Place::BOTH {
        let (room, path) = place.room();
        fs::write(&path, bytes).unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        check_output(&place.run(&room), &path, said, &format!("{case} as {place:?}"));
        assert!(fs::read(&path).unwrap() == bytes, "{case}: the file has changed");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before, "{case}: the file was written");
        let around = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(around, 1, "{case}: something was left beside the file");
    }
}

#[test]
fn files_that_end_too_early() {
    let end_of_object = "expected `}` at the end of the object that starts here";
    let end_of_string = "expected `\"` at the end of the string that starts here";
    let cases = [
        ("{", format!(":1:1: {end_of_object}")),
        ("{\n\"mcpServers\"", ":2:13: expected `:` after the key".to_owned()),
        ("{\n\"mcpServers\":", ":2:14: expected a value after `:`".to_owned()),
        ("{\n\"mcpServers\": {", format!(":2:15: {end_of_object}")),
        ("{\"a\": [", ":1:7: expected `]` at the end of the list that starts here".to_owned()),
        ("{\"a\": [1,", ":1:7: expected `]` at the end of the list that starts here".to_owned()),
        ("{\"a\": {\"b\": 1},", format!(":1:1: {end_of_object}")),
        ("{\"a", format!(":1:2: {end_of_string}")),
        ("{\"a\": \"b\\", format!(":1:7: {end_of_string}")),
        ("{\"a\": \"\\u00", format!(":1:7: {end_of_string}")),
        ("{\"a\": tru", ":1:7: expected JSON".to_owned()),
        ("{\"a\": -", ":1:8: expected a decimal number".to_owned()),
        ("{\"a\": 1 /* more", ":1:9: expected `*/` at the end of the comment that starts here".to_owned()),
    ];
    for (text, said) in cases {
        check(text, text.as_bytes(), &Said::Refused(said.leak()));
    }
}

#[test]
fn files_that_are_no_settings() {
    let cases: &[(&str, Vec<u8>, Said)] = &[
        ("a list", b"[]".to_vec(), Said::Refused(":1:1: expected `{`: a settings file is one object")),
        ("a text", b"\n \"x\"".to_vec(), Said::Refused(":2:2: expected `{`")),
        ("a number", b"5".to_vec(), Said::Refused(":1:1: expected `{`")),
        ("null", b"null".to_vec(), Said::Refused(":1:1: expected `{`")),
        ("two objects", b"{} {}".to_vec(), Said::Refused(":1:4: expected the end of the file")),
        ("NUL in a text", b"{\"a\": \"\0\"}".to_vec(), Said::Refused(":1:8: the control character U+0000")),
        ("NUL at the end", b"{}\n\0\0".to_vec(), Said::Refused(":2:1: the control character U+0000")),
        ("only NUL", vec![0; 4096], Said::Refused(":1:1: the control character U+0000")),
        ("no UTF-8", b"{\"a\": \n\"\xe9\"}".to_vec(), Said::Refused(":2:2: not UTF-8 text\n")),
        ("half a letter", b"{\"a\": \"\xe6\xbc".to_vec(), Said::Refused(":1:8: not UTF-8 text\n")),
        ("UTF-16", utf_16("{}", u16::to_le_bytes), Said::Refused(":1:1: not UTF-8 text, but UTF-16")),
        ("UTF-16, big", utf_16("{}", u16::to_be_bytes), Said::Refused(":1:1: not UTF-8 text, but UTF-16")),
        ("a program", b"\x7fELF\x02\x01\x01\0\0".to_vec(), Said::Refused(":1:1: the control character U+007F")),
        ("10 MB of blanks", vec![b' '; 10 << 20], Said::Refused(": larger than 4 MiB")),
        ("10 MB of servers", ten_megabytes(), Said::Refused(": larger than 4 MiB")),
        (
            "a key twice",
            b"{\"mcp\": {},\n\"mcp\": {}}".to_vec(),
            Said::Refused(":1:2: mcp: written twice; the other one is in line 2"),
        ),
        (
            "a server twice",
            b"{\"mcpServers\": {\"w\": {\"command\": \"none\"},\n\"w\": {\"builtin\": \"workspace\"}}}".to_vec(),
            Said::Refused(":1:17: mcpServers.w: written twice; the other one is in line 2"),
        ),
        ("nested lists", nested("[", "]"), Said::Refused(":1:70: more than 64 levels")),
        ("nested objects", nested("{\"a\":", "}"), Said::Refused(":1:322: more than 64 levels")),
        ("nested, no end", nested("[", ""), Said::Refused(":1:70: more than 64 levels")),
    ];
    for (case, bytes, said) in cases {
        check(case, bytes, said);
    }
}

#[test]
fn files_that_are_fine() {
    let empty = ": nothing is written in this file";
    let cases: &[(&str, &[u8], Said)] = &[
        ("empty", b"", Said::Warned(empty)),
        ("only a comment", b"// to be written\n", Said::Warned(empty)),
        ("only blanks", b" \r\n\t", Said::Warned(empty)),
        ("with a mark", b"\xef\xbb\xbf{}", Said::Nothing),
        ("with a trailing comma", b"{\"mcpServers\": {},}", Said::Nothing),
        ("an unknown key", b"{\"mcpServer\": {}}", Said::Warned(":1:2: mcpServer: unknown key")),
        ("lines of an old Mac", b"{\r\"mcpServers\": {}\r}", Said::Nothing),
    ];
    for (case, bytes, said) in cases {
        check(case, bytes, said);
    }
}

#[test]
fn something_else_in_place_of_the_file() {
    let no_target = |path: &Path| symlink("nowhere.json", path).unwrap();
    let itself = |path: &Path| symlink(path.file_name().unwrap(), path).unwrap();
    let pipe = |path: &Path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    };
    let cases: [(&str, Put, &str); 5] = [
        ("a folder", |path| fs::create_dir(path).unwrap(), ": a folder, not a settings file"),
        ("a link to nowhere", no_target, ": cannot be read: No such file or directory"),
        ("a link to itself", itself, ": cannot be read: Too many levels of symbolic links"),
        ("a pipe", pipe, ": cannot be read: "),
        ("a file that cannot be read", unreadable, ": cannot be read: "),
    ];
    for (case, put, said) in cases {
        for place in Place::BOTH {
            let (room, path) = place.room();
            put(&path);
            let before = fs::symlink_metadata(&path).unwrap();
            check_output(&place.run(&room), &path, &Said::Refused(said), &format!("{case} as {place:?}"));
            let after = fs::symlink_metadata(&path).unwrap();
            assert_eq!(after.file_type().is_fifo(), before.file_type().is_fifo(), "{case}");
            assert_eq!((after.len(), after.modified().unwrap()), (before.len(), before.modified().unwrap()), "{case}");
        }
    }
}

#[test]
fn a_pipe_that_somebody_writes_into_is_read() {
    let (room, path) = Place::Config.room();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || fs::write(path, "{\"mcp\": {\"exclude\": []}}"))
    };
    let output = Place::Config.run(&room);
    writer.join().unwrap().unwrap();
    check_output(&output, &path, &Said::Warned(":1:10: mcp.exclude: unknown key"), "a pipe");
}

/// A file nobody may read; for who may read everything, one that has nothing to be read.
fn unreadable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, "{}").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(path).is_ok() {
        fs::remove_file(path).unwrap();
        symlink("/proc/self/mem", path).unwrap();
    }
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
}

fn ten_megabytes() -> Vec<u8> {
    let entry = format!("\"server\": {{\"command\": \"{}\"}},\n", "x".repeat(1000));
    format!("{{\"mcpServers\": {{{}}}}}", entry.repeat((10 << 20) / entry.len())).into_bytes()
}

fn nested(open: &str, close: &str) -> Vec<u8> {
    const LEVELS: usize = 100_000;
    format!("{{\"a\": {}1{}}}", open.repeat(LEVELS), close.repeat(LEVELS)).into_bytes()
}
