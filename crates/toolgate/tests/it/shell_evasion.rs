//! Ways around a rule that denies a command. Each row is decided, and run under two shells to prove its effect.
//!
//! Without namespaces, the rows are decided but not run. The tests that run them say so on standard error, which
//! nextest shows for them also when they pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toolgate::policy::{Decision, Mode};
use toolgate_testkit::shell_room::ShellRun;

use crate::shell_rows::{Wanted, decide, policy, rows, run_all};

const EVASION: &str = include_str!("../fixtures/shell/evasion.txt");
/// Rows with a denial that does not hold, because the contents of files are not read.
const DECLINED: &str = include_str!("../fixtures/shell/declined.txt");
const ORDINARY: &str = include_str!("../fixtures/shell/ordinary.txt");

/// Rows that must be proven under at least one shell, with programs that every Debian has.
const PROVEN_MIN: usize = 400;

/// Maximum rows with a denial but no run anywhere: they need a terminal, a daemon, another user or a rare program.
const UNPROVEN_MAX: usize = 120;

/// Maximum rows with a program that runs differently here: versions of programs differ.
const DIFFERENT_MAX: usize = 20;

/// Minimum ordinary rows.
const ORDINARY_MIN: usize = 200;

/// Commands that are denied while ordinary ones are allowed.
const DENIED: [&str; 3] = ["npm publish", "git push", "rm -rf"];

/// A way to a denied command.
#[derive(Debug)]
struct Row {
    prefix: String,
    /// `both`, `sh`, `bash` or `any`.
    shells: String,
    has_repository: bool,
    needs: Option<String>,
    command: String,
}

fn evasions(table: &'static str) -> Vec<Row> {
    let row = |[prefix, place, command]: [String; 3]| {
        let mut words = place.split(' ');
        let shells = words.next().unwrap_or_default().to_owned();
        assert!(["both", "sh", "bash", "any"].contains(&shells.as_str()), "{command}: runs in `{shells}`");
        let (mut has_repository, mut needs) = (false, None);
        for word in words {
            match word.strip_prefix("needs=") {
                Some(program) => needs = Some(program.to_owned()),
                None if word == "repo" => has_repository = true,
                None => panic!("{command}: what is `{word}`?"),
            }
        }
        Row { prefix, shells, has_repository, needs, command }
    };
    let rows: Vec<Row> = rows(table).into_iter().map(row).collect();
    let different: BTreeSet<_> = rows.iter().map(|row| (&row.prefix, &row.command)).collect();
    assert_eq!(different.len(), rows.len(), "a row stands there twice");
    rows
}

#[test]
fn a_denial_holds_on_every_way_around_it() {
    let mut milder = Vec::new();
    for row in evasions(EVASION) {
        let policy = policy(&[&row.prefix], &[]);
        for mode in [Mode::Default, Mode::Yolo] {
            if decide(&policy, &row.command, mode) == Decision::Allow {
                milder.push(format!("{} in mode {}: {}", row.prefix, mode.as_str(), row.command));
            }
        }
    }
    assert!(milder.is_empty(), "{} are let through:\n{}", milder.len(), milder.join("\n"));
}

#[test]
fn every_way_around_it_runs_what_is_denied() {
    let rows: Vec<Row> = evasions(EVASION).into_iter().chain(evasions(DECLINED)).collect();
    let wanted: Vec<Wanted> = rows
        .iter()
        .map(|row| Wanted {
            command: row.command.clone(),
            stubs: vec![row.prefix.split(' ').next().unwrap_or_default().to_owned()],
            has_repository: row.has_repository,
        })
        .collect();
    let runs = match run_all(&wanted) {
        Ok(runs) => runs,
        Err(why) => return eprintln!("NOT RUN: {} rows were decided, none was run: {why}", rows.len()),
    };
    let (mut proven, mut unproven, mut wrong) = (0, BTreeMap::<&str, usize>::new(), Vec::new());
    let mut different = Vec::new();
    for (row, [sh, bash]) in rows.iter().zip(&runs) {
        let found = match (reaches(sh, &row.prefix), reaches(bash, &row.prefix)) {
            (true, true) => "both",
            (true, false) => "sh",
            (false, true) => "bash",
            (false, false) => "none",
        };
        let (is_there, is_as_said) = (row.needs.as_deref().is_none_or(is_installed), found == row.shells);
        match row.needs.as_deref() {
            None if is_as_said => proven += 1,
            None if row.shells == "any" => *unproven.entry("rights or a terminal").or_default() += 1,
            Some(program) if !is_there || row.shells == "any" => *unproven.entry(program).or_default() += 1,
            // Another version of a program may behave differently; the denial is asserted all the same.
            Some(_) if !is_as_said => different.push(row.command.as_str()),
            Some(_) => {}
            None => wrong.push(format!("{}, not {found}: {} ({} {})", row.shells, row.command, sh.said, bash.said)),
        }
    }
    let missing: usize = unproven.values().sum();
    eprintln!(
        "{} rows: {proven} proven with what every Debian has, {missing} not proven for want of {unproven:?}, run otherwise: {different:?}",
        rows.len()
    );
    assert!(wrong.is_empty(), "{} rows run otherwise than they say:\n{}", wrong.len(), wrong.join("\n"));
    assert!(proven >= PROVEN_MIN, "{proven} rows are proven");
    let count = different.len();
    assert!(count <= DIFFERENT_MAX, "{count} rows are run otherwise by what is there:\n{}", different.join("\n"));
}

/// A row is evidence only if its run is asserted. Installed programs do not matter: the table is the same everywhere.
#[test]
fn most_rows_say_where_they_run() {
    let unproven = evasions(EVASION).iter().filter(|row| row.shells == "any").count();
    assert!(unproven <= UNPROVEN_MAX, "{unproven} rows are never proven; at most {UNPROVEN_MAX} may be");
}

/// A row that is stopped belongs among the rows with a denial that holds.
#[test]
fn what_is_declined_is_let_through_or_asked_about() {
    for row in evasions(DECLINED) {
        let policy = policy(&[&row.prefix], &[]);
        let decisions = [Mode::Default, Mode::Yolo].map(|mode| decide(&policy, &row.command, mode));
        assert!(!decisions.contains(&Decision::Deny), "it is denied: {}", row.command);
        assert!(decisions.contains(&Decision::Allow), "it is held back in every mode: {}", row.command);
    }
}

/// Whether the command of a prefix was started.
fn reaches(run: &ShellRun, prefix: &str) -> bool {
    let flags = |words: &[String]| {
        let letters: String = words.iter().filter(|word| word.starts_with('-')).map(String::as_str).collect();
        (letters.contains(['r', 'R']), letters.contains('f'))
    };
    let reaches = |ran: &Vec<String>| match ran.split_first().map(|(program, rest)| (program.as_str(), rest)) {
        Some(("rm", rest)) if prefix == "rm -rf" => flags(rest) == (true, true),
        Some(("git", rest)) if prefix == "git push" => rest.iter().any(|word| word == "push"),
        _ => prefix.split(' ').zip(ran).all(|(word, ran)| word == ran) && ran.len() >= prefix.split(' ').count(),
    };
    run.ran.iter().any(reaches)
}

fn is_installed(program: &str) -> bool {
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .iter()
        .any(|folder| Path::new(folder).join(program).exists())
}

#[test]
fn ordinary_commands_stay_allowed() {
    let rows: Vec<[String; 2]> = rows(ORDINARY);
    assert!(rows.len() >= ORDINARY_MIN, "{} rows", rows.len());
    let everything = policy(&DENIED, &[]);
    let mut held_back = Vec::new();
    for [allowed, command] in &rows {
        let allowed: Vec<&str> = allowed.split('|').collect();
        for (what, policy) in [("its prefixes", &policy(&DENIED, &allowed)), ("everything", &everything)] {
            let decision = decide(policy, command, Mode::Default);
            if decision != Decision::Allow {
                held_back.push(format!("{} though {what} is allowed: {command}", decision.as_str()));
            }
        }
    }
    assert!(held_back.is_empty(), "{}", held_back.join("\n"));
}

#[test]
fn ordinary_commands_run_what_is_allowed_and_nothing_else() {
    let rows: Vec<[String; 2]> = rows(ORDINARY);
    let stub = |prefix: &str| prefix.split(' ').next().filter(|program| !is_always_there(program)).map(str::to_owned);
    let wanted: Vec<Wanted> = rows
        .iter()
        .map(|[allowed, command]| {
            let mut stubs: Vec<String> = allowed.split('|').filter_map(stub).collect();
            stubs.sort();
            stubs.dedup();
            Wanted { command: command.clone(), stubs, has_repository: false }
        })
        .collect();
    let runs = match run_all(&wanted) {
        Ok(runs) => runs,
        Err(why) => return eprintln!("NOT RUN: {} ordinary commands were decided, none was run: {why}", rows.len()),
    };
    for (([allowed, command], wanted), runs) in rows.iter().zip(&wanted).zip(&runs) {
        for run in runs {
            let is_allowed = |ran: &Vec<String>| {
                allowed.split('|').any(|prefix| prefix.split(' ').zip(ran).all(|(word, ran)| word == ran))
            };
            assert!(run.ran.iter().all(is_allowed), "{command} runs {:?}", run.ran);
            let has_run = |stub: &String| run.ran.iter().any(|ran| ran.first() == Some(stub));
            assert!(wanted.stubs.iter().all(has_run), "{command} runs only {:?}: {}", run.ran, run.said);
        }
    }
}

/// Builtins and harmless programs, which really run.
fn is_always_there(program: &str) -> bool {
    const REAL: &str = "ls cat head tail wc grep find sort uniq cut tr diff cmp stat file du df pwd date whoami uname basename dirname \
        realpath which seq tee sed awk tar mkdir touch cp mv ln chmod rm rmdir echo printf test [ true sleep expr env id hostname nproc \
        md5sum base64 xxd less cd set export unset trap xargs jq wait";
    REAL.split_whitespace().any(|real| real == program)
}
