//! Tests of following references: what each kind gives, every way in which it fails, and that nothing of a secret is told.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Place, Secrets, bounded, command, complaint};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::{Error, ErrorKind};
use crate::limits::{SECRET_BYTES_MAX, SECRET_COMPLAINT_CHARS_MAX, SERVER_TEXT_BYTES_MAX};
use crate::servers::text::ConfigText;
use crate::servers::{ServerConfig, Switches, resolve};
use crate::settings::SettingsSource;
use crate::settings::expand::{Unset, expand};
use crate::settings::read::read_text;

/// A home, and the folder of a settings file in it.
struct Room {
    folder: TempDir,
    env: HostEnv,
    server: ServerConfig,
}

impl Room {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".toolgate")).unwrap();
        let vars = [("PATH", "/usr/bin:/bin"), ("TOKEN", "sesame"), ("EMPTY", "")];
        let vars: BTreeMap<_, _> = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let dirs = HostDirs { user: home.join(".toolgate"), system: "/s".into(), home: Some(home.clone()) };
        let env = HostEnv { vars, dirs, workspace: folder.path().into(), clock: Arc::new(SystemClock) };
        let path = home.join(".toolgate/settings.json");
        let layer = read_text(r#"{"mcpServers": {"x": {"command": "c"}}}"#, &path, SettingsSource::User).unwrap();
        let server = resolve(&[layer], &Switches::default(), &env).active.remove(0);
        Self { folder, env, server: (*server).clone() }
    }

    fn home(&self) -> &Path {
        self.env.dirs.home.as_deref().unwrap()
    }

    fn secrets(&self) -> Secrets<'_> {
        Secrets::for_start(&self.env, &self.server)
    }

    async fn fill(&self, written: &str) -> Result<String, Error> {
        self.secrets().fill(Place::Variable("A"), &text(written)).await.map(|secret| secret.expose().to_owned())
    }

    /// The error without the place and the reference, and its hint.
    async fn why(&self, written: &str) -> (String, String) {
        let error = self.fill(written).await.expect_err(written);
        assert_eq!(error.kind(), ErrorKind::Settings);
        assert!(!format!("{error:?}").contains("sesame"), "{error:?}");
        let message = error.to_string();
        let start = "mcpServers.x.env.A: `${";
        assert!(message.starts_with(start), "{message}");
        (message.split_once("}`: ").unwrap().1.to_owned(), error.hint().unwrap().to_owned())
    }
}

fn text(written: &str) -> ConfigText {
    ConfigText::new(expand(written, &BTreeMap::new(), Unset::Keep, SERVER_TEXT_BYTES_MAX).unwrap().parts)
}

#[tokio::test]
async fn each_kind_gives_its_secret() {
    let room = Room::new();
    fs::write(room.home().join("one"), "sesame\n").unwrap();
    fs::write(room.home().join("two"), "ses\names\r\n\r\n").unwrap();
    fs::write(room.home().join(".toolgate/beside"), "beside").unwrap();
    fs::write(room.folder.path().join("above"), " above ").unwrap();
    std::os::unix::fs::symlink("one", room.home().join("link")).unwrap();
    let absolute = format!("${{file:{}}}", room.folder.path().join("above").display());
    let here = fs::canonicalize(room.home()).unwrap();
    let cases = [
        ("plain", "plain"),
        ("", ""),
        ("${env:TOKEN}", "sesame"),
        ("${env:EMPTY}", ""),
        ("<${env:TOKEN}-${env:TOKEN}>", "<sesame-sesame>"),
        ("${file:~/one}", "sesame"),
        ("${file:~/link}", "sesame"),
        ("${file:~/two}", "ses\names\r\n"),
        ("${file:beside}", "beside"),
        ("${file:../one}", "sesame"),
        (absolute.as_str(), " above "),
        ("${cmd:echo sesame}", "sesame"),
        ("${cmd:printf 'a\\n\\n'}", "a\n"),
        ("${cmd:echo $TOKEN}", "sesame"),
        ("${cmd:echo ${TOKEN} '}' {}}", "sesame } {}"),
        ("${cmd:pwd}", here.to_str().unwrap()),
        ("${cmd:cat; echo end}", "end"),
        ("${cmd:echo noise >&2; echo x}", "x"),
        ("${cmd:echo x; sleep 60 &}", "x"),
        ("${cmd:env | grep -c ^PATH=}", "1"),
    ];
    for (written, expected) in cases {
        assert_eq!(room.fill(written).await.as_deref().map_err(ToString::to_string), Ok(expected), "{written}");
    }
}

#[tokio::test]
async fn each_failure_says_why_and_never_what() {
    let mut room = Room::new();
    fs::write(room.home().join("binary"), b"sesame\xff").unwrap();
    fs::write(room.home().join("nul"), b"ses\0ame").unwrap();
    fs::write(room.home().join("empty"), "\n").unwrap();
    fs::write(room.home().join("huge"), "sesame".repeat(SECRET_BYTES_MAX)).unwrap();
    fs::create_dir(room.home().join("folder")).unwrap();
    std::os::unix::fs::symlink("loop", room.home().join("loop")).unwrap();
    make_pipe(&room.home().join("pipe"));
    let not_text = "what it stands for is not UTF-8 text";
    let nul = "what it stands for has a NUL character";
    let large = "what it stands for is larger than 64 KiB";
    let nothing = "there is nothing in it";
    let cases = [
        ("${env:NONE}", "the variable is not set"),
        ("${file:~/none}", "there is no such file"),
        ("${file:~/folder}", "a folder, not a file"),
        ("${file:~/one/two}", "there is no such file"),
        ("${file:~/binary}", not_text),
        ("${file:~/nul}", nul),
        ("${file:~/empty}", nothing),
        ("${file:~/huge}", large),
        ("${file:~/pipe}", "the file cannot be read: not a regular file"),
        ("${file:/dev/zero}", "the file cannot be read: not a regular file"),
        ("${cmd:true}", nothing),
        ("${cmd:echo $TOKEN; exit 3}", "the command ended with exit status 3"),
        (
            "${cmd:echo $TOKEN; echo >&2; echo 'no \u{1b}[2J' >&2; echo more >&2; exit 1}",
            "the command ended with exit status 1: no \\u{1b}[2J",
        ),
        ("${cmd:kill -9 $$}", "the command ended with signal 9"),
        ("${cmd:no-such-program-anywhere 2>/dev/null}", "the command ended with exit status 127"),
        ("${cmd:printf $TOKEN'\\377'}", not_text),
        ("${cmd:printf $TOKEN'\\000'$TOKEN}", nul),
        ("${cmd:yes $TOKEN}", large),
        (
            "${keychain:github}",
            "no keychain can be reached: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)",
        ),
    ];
    for (written, expected) in cases {
        let (message, hint) = room.why(written).await;
        assert_eq!(message, expected, "{written}");
        assert!(!hint.is_empty());
    }
    room.env.vars.insert("NUL".to_owned(), "ses\0ame".to_owned());
    assert_eq!(room.why("${env:NUL}").await.0, nul);
    let (message, _) = room.why("${file:~/loop}").await;
    assert!(message.starts_with("the file cannot be read: "), "{message}");
    let (message, _) = room.why("${cmd:a\0b}").await;
    assert!(message.starts_with("the command cannot be run: "), "{message}");
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[tokio::test]
async fn one_start_follows_each_reference_once() {
    let room = Room::new();
    let mut secrets = room.secrets();
    let count = text("${cmd:echo x >> count; cat count | wc -l | tr -d ' '}");
    for _ in 0..3 {
        assert_eq!(secrets.fill(Place::Argument(0), &count).await.unwrap().expose(), "1");
    }
    assert_eq!(room.secrets().fill(Place::Address, &count).await.unwrap().expose(), "2", "the next start asks again");
    assert_eq!(format!("{:?}", secrets.fill(Place::Header("A"), &count).await.unwrap()), "Secret(…)");
    assert!(!format!("{secrets:?}").contains("\"1\""), "{secrets:?}");
}

#[tokio::test]
async fn all_secrets_together_are_bounded() {
    let room = Room::new();
    fs::write(room.home().join("large"), "x".repeat(SECRET_BYTES_MAX)).unwrap();
    let enough = SERVER_TEXT_BYTES_MAX / SECRET_BYTES_MAX;
    assert_eq!(room.fill(&"${file:~/large}".repeat(enough)).await.unwrap().len(), SERVER_TEXT_BYTES_MAX);
    let error = room.fill(&"${file:~/large}".repeat(enough + 1)).await.unwrap_err();
    assert_eq!(error.to_string(), "mcpServers.x.env.A: with this the texts of the server have more than 2 MiB");
}

#[tokio::test]
async fn a_slow_command_is_ended_with_all_it_started() {
    let room = Room::new();
    let line = "sleep 300 & echo $! > child; echo sesame; wait";
    let why = command::run_within(&room.env, line, Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(why.message, "the command took longer than 1s and was ended");
    let child = fs::read_to_string(room.home().join("child")).unwrap();
    let gone = Instant::now() + Duration::from_secs(30);
    // It may be left to be reaped for a moment.
    while is_running(child.trim()) {
        assert!(Instant::now() < gone, "{child} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_running(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[tokio::test]
async fn a_command_given_up_is_ended() {
    let room = Room::new();
    let line = "echo $$ > shell; sleep 300";
    let running = command::run_within(&room.env, line, Duration::from_secs(300));
    let started = async {
        while fs::read_to_string(room.home().join("shell")).unwrap_or_default().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        ended = running => panic!("{ended:?}"),
        () = started => (),
    }
    let shell = fs::read_to_string(room.home().join("shell")).unwrap();
    let gone = Instant::now() + Duration::from_secs(30);
    while is_running(shell.trim()) {
        assert!(Instant::now() < gone, "{shell} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn without_a_home_there_is_no_tilde() {
    let mut room = Room::new();
    room.env.dirs.home = None;
    assert_eq!(room.why("${file:~/x}").await.0, "no home folder is known");
    assert_eq!(room.fill("${cmd:pwd}").await.unwrap(), "/");
}

#[tokio::test]
async fn a_settings_file_that_is_none_leaves_the_workspace() {
    let mut room = Room::new();
    room.server.origin.path = None;
    fs::write(room.folder.path().join("here"), "x").unwrap();
    assert_eq!(room.fill("${file:here}").await.unwrap(), "x");
}

#[test]
fn what_others_say_is_shortened_and_made_visible() {
    assert_eq!(complaint("\n \n  first \u{7} \nsecond"), "first \\u{7}");
    assert_eq!(complaint(""), "");
    assert_eq!(complaint(&"x".repeat(1000)).chars().count(), SECRET_COMPLAINT_CHARS_MAX + 1);
    assert_eq!(bounded("漢字", 1), "漢…");
}
