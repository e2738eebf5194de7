//! `./check` looks for everything that it needs before it builds anything. The script runs in a copy, on a `PATH` of stubs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Programs that the script takes from the system, whatever else is missing.
const SYSTEM: [&str; 13] =
    ["bash", "cut", "date", "dirname", "env", "grep", "head", "id", "mktemp", "sed", "sort", "cat", "chmod"];
/// Programs that it looks for, with what stands in for them.
const STUBS: [(&str, &str); 17] = [
    (
        "cargo",
        r#"case $1 in --version) echo "cargo ${FAKE_CARGO:-99.0.0}" ;; *) [ "$2" = --version ] || echo "BUILD $*" ;; esac"#,
    ),
    ("cargo-deny", ""),
    ("cargo-nextest", ""),
    ("cargo-fuzz", ""),
    ("cc", ""),
    ("git", ""),
    ("npm", ""),
    ("dbus-run-session", ""),
    ("gnome-keyring-daemon", ""),
    ("secret-tool", ""),
    ("chromium", ""),
    ("g++", ""),
    ("python3", ""),
    ("dpkg", ""),
    ("strip", ""),
    ("man", ""),
    (
        "apt-get",
        r#"[ "$1" = update ] || for name in "$@"; do :; done; [ -z "$APT_FAILS" ] || [ "$1" = update ] || exit 100
[ "$1" = update ] || { : >"$STUBS/$name"; chmod 755 "$STUBS/$name"; }"#,
    ),
];

/// A copy of the script with a folder of stubs beside it.
struct Copy {
    root: tempfile::TempDir,
}

impl Copy {
    fn without(missing: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in ["check", "Cargo.toml"] {
            fs::copy(repository.join(file), root.path().join(file)).unwrap();
        }
        let stubs = root.path().join("bin");
        fs::create_dir(&stubs).unwrap();
        for program in SYSTEM {
            symlink(on_path(program), stubs.join(program)).unwrap();
        }
        for (program, script) in STUBS.iter().filter(|(program, _)| !missing.contains(program)) {
            let path = stubs.join(program);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { root }
    }

    /// A stub for one more program.
    fn with(self, program: &str, script: &str) -> Self {
        let path = self.root.path().join("bin").join(program);
        let _replaced = fs::remove_file(&path);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn run(&self, part: &str, variables: &[(&str, &str)]) -> Output {
        let stubs = self.root.path().join("bin");
        let mut command = Command::new(on_path("bash"));
        command.arg(self.root.path().join("check")).arg(part).env_clear();
        command.env("PATH", &stubs).env("STUBS", &stubs).envs(variables.iter().copied());
        command.output().unwrap()
    }
}

fn on_path(program: &str) -> PathBuf {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
    let found = folders.into_iter().map(|folder| Path::new(folder).join(program)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{program} is in none of {folders:?}"))
}

/// A person who is not root.
const PERSON: (&str, &str) = ("id", "echo 1000");

/// A part, what is missing, further stubs, variables, and what stands on stderr.
type Refused<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str);

fn are_refused(cases: &[Refused<'_>]) {
    for (part, missing, stubs, variables, expected) in cases {
        let copy = stubs.iter().fold(Copy::without(missing), |copy, (program, script)| copy.with(program, script));
        let output = copy.run(part, variables);
        let said = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!((said.as_ref(), output.status.code()), (*expected, Some(2)), "{part} without {missing:?}: {shown}");
        assert!(!shown.contains("BUILD"), "{part} without {missing:?} built something: {shown}");
    }
}

const NOTHING: &[(&str, &str)] = &[];

#[test]
fn a_toolchain_that_is_missing_or_old_is_said_before_anything_is_built() {
    let cases: [Refused<'_>; 4] = [
        (
            "quick",
            &["cargo"],
            NOTHING,
            NOTHING,
            "error: cargo is missing\nhint: install Rust 1.95 or later from https://rustup.rs\n",
        ),
        (
            "all",
            &["cargo", "cc"],
            NOTHING,
            NOTHING,
            "error: cargo is missing\nhint: install Rust 1.95 or later from https://rustup.rs\n",
        ),
        (
            "quick",
            &[],
            NOTHING,
            &[("FAKE_CARGO", "1.70.0")],
            "error: cargo is 1.70.0; Rust 1.95 or later is needed\nhint: rustup update stable\n",
        ),
        (
            "quick",
            &[],
            &[("cargo", r#"case $1 in --version) echo "cargo 99.0.0" ;; clippy) exit 1 ;; esac"#)],
            NOTHING,
            "error: cargo clippy is missing\nhint: rustup component add clippy rustfmt\n",
        ),
    ];
    are_refused(&cases);
}

#[test]
fn packages_that_are_missing_are_said_before_anything_is_built() {
    let cases: [Refused<'_>; 5] = [
        (
            "quick",
            &["cc", "apt-get"],
            NOTHING,
            NOTHING,
            "error: programs are missing that these Debian packages contain: gcc\nhint: install them with the package manager of this system\n",
        ),
        (
            "test",
            &["chromium", "dbus-run-session", "secret-tool"],
            &[PERSON],
            NOTHING,
            "error: Debian packages are missing: chromium dbus libsecret-tools\n\
             hint: su -c 'apt-get update && apt-get install -y --no-install-recommends chromium dbus libsecret-tools'\n",
        ),
        (
            "test",
            &["git"],
            &[PERSON, ("sudo", "exit 1")],
            NOTHING,
            "error: Debian packages are missing: git\n\
             hint: sudo apt-get update && sudo apt-get install -y --no-install-recommends git\n",
        ),
        (
            "test",
            &["git"],
            &[("id", "echo 0")],
            &[("APT_FAILS", "1")],
            "error: apt-get cannot install git\n\
             hint: look at the message of apt-get above; CHROMIUM=PROGRAM names a browser that is there already\n",
        ),
        (
            "test",
            &[],
            NOTHING,
            &[("PYTHON", "no-such-python")],
            "error: Python 3.10 to 3.13 with `venv` is needed; no-such-python is another version or lacks `venv`\nhint: set PYTHON to a suitable interpreter\n",
        ),
    ];
    are_refused(&cases);
}

#[test]
fn the_quick_part_needs_rust_and_a_c_compiler_only() {
    let other = [
        "git",
        "npm",
        "dbus-run-session",
        "gnome-keyring-daemon",
        "secret-tool",
        "chromium",
        "g++",
        "python3",
        "dpkg",
        "strip",
        "man",
        "apt-get",
        "cargo-deny",
        "cargo-fuzz",
    ];
    let output = Copy::without(&other).run("quick", &[]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("quick: passed"), "{shown}");
    assert!(!shown.contains("BUILD install"), "{shown}");
}

#[test]
fn a_root_user_has_missing_packages_installed() {
    let copy = Copy::without(&["git"]).with("id", "echo 0");
    let output = copy.run("test", &[]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("== install git "), "{shown}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_browser_and_a_python_of_another_name_are_found() {
    let copy = Copy::without(&["chromium", "python3", "apt-get"])
        .with("google-chrome", "")
        .with("python3.12", "")
        .with("id", "echo 1000");
    // Everything is there: the next step is the installation of the partners, which this copy does not have.
    let output = copy.run("test", &[]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("== partners"), "{shown}{}", String::from_utf8_lossy(&output.stderr));
}
