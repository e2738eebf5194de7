//! The cost of one decision: `policy` prints it, alone or in turns with another build of this program.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::filter::{Arguments, NamePattern};
use toolgate::policy::file::{self, FileSource, Severity};
use toolgate::policy::{CallFacts, Decision, Mode, Policy, Presence, Rule, ServerPattern, Tier};
use toolgate::{Asker, ServerName};

use crate::against::Comparison;
use crate::measure::median;
use crate::{Outcome, say};

/// Duration of one measurement of one case.
const MEASURED: Duration = Duration::from_millis(200);

/// Decisions between two readings of the clock.
const BATCH: u32 = 64;

/// One case: the number of rules above the one that decides, and the call.
struct Case {
    name: &'static str,
    rules: usize,
    tool: &'static str,
    arguments: fn() -> Value,
    /// Rules with conditions about this tool, as the text of a policy file: none of them holds, so each is looked at.
    conditions: fn() -> String,
}

const CASES: &[Case] = &[
    Case { name: "rules-100", rules: 100, tool: "create_issue", arguments: issue, conditions: String::new },
    Case { name: "rules-10000", rules: 10_000, tool: "create_issue", arguments: issue, conditions: String::new },
    Case {
        name: "shell-short",
        rules: 100,
        tool: "run_shell_command",
        arguments: || json!({"command": "git status --short"}),
        conditions: String::new,
    },
    Case {
        name: "shell-three-parts",
        rules: 100,
        tool: "run_shell_command",
        arguments: || json!({"command": "cd src && cargo test --workspace | tail -20"}),
        conditions: String::new,
    },
    Case {
        name: "shell-wrapped",
        rules: 100,
        tool: "run_shell_command",
        arguments: || json!({"command": "env A=1 timeout 5 nice -n 3 xargs -0 -I{} sh -c 'find . -name \"*.rs\" -exec grep -l {} +' <list"}),
        conditions: String::new,
    },
    Case {
        name: "conditions-shell",
        rules: 0,
        tool: "run_shell_command",
        arguments: || json!({"command": "cd src && cargo test --workspace | tail -20"}),
        conditions: about_commands,
    },
    Case {
        name: "conditions-unknown-program",
        rules: 0,
        tool: "run_shell_command",
        arguments: || json!({"command": format!("build-all {}", "src/lib.rs --feature name ".repeat(30))}),
        conditions: about_commands,
    },
    Case {
        name: "conditions-path",
        rules: 0,
        tool: "write_file",
        arguments: || json!({"path": "./src/%2e/deep/../deep/file.rs", "content": "x".repeat(2_000)}),
        conditions: about_paths,
    },
];

/// A hundred beginnings of commands, and twenty expressions.
fn about_commands() -> String {
    let rule = |condition: String| {
        format!("[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 500\n{condition}\n")
    };
    let prefixes = (0..100).map(|at| rule(format!("commandPrefix = \"program{at} sub{at}\"")));
    let expressions = (0..20).map(|at| rule(format!("commandRegex = \"tool{at} (run|push) .*--force\"")));
    prefixes.chain(expressions).collect()
}

/// Twenty tests of paths.
fn about_paths() -> String {
    let rule = |at: usize| {
        format!(
            "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\npriority = 500\nwhen.\"/path\" = {{ under = \"secret{at}\" }}\n"
        )
    };
    (0..20).map(rule).collect()
}

fn issue() -> Value {
    json!({"title": "It does not start", "body": "Since yesterday.", "labels": ["bug"]})
}

/// Reads `[--runs N] [--against PATH]`, where PATH is another build of this program.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let (mut runs, mut against) = (7, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--runs" => runs = words.next().ok_or("`--runs` needs a number")?.parse::<usize>()?.max(1),
            "--against" => against = Some(words.next().ok_or("`--against` needs a path")?),
            other => return Err(format!("`{other}` is neither `--runs` nor `--against`").into()),
        }
    }
    let this = std::env::current_exe()?;
    match against {
        Some(before) => compare(Path::new(before), &this, runs),
        None => tell(&this, runs),
    }
}

fn tell(this: &Path, runs: usize) -> Outcome {
    say("| case | one decision |");
    say("| --- | --- |");
    for case in CASES {
        let times = (0..runs).map(|_| ask(this, case.name)).collect::<Outcome<Vec<f64>>>()?;
        say(&format!("| {} | {:.0} ns |", case.name, median(times)));
    }
    Ok(())
}

fn compare(before: &Path, now: &Path, runs: usize) -> Outcome {
    say("| case | before | now | now / before (range) | now / now (range) | no worse |");
    say("| --- | --- | --- | --- | --- | --- |");
    for case in CASES {
        // An older build does not have every case.
        if ask(before, case.name).is_err() {
            say(&format!("| {} | not measured | {:.0} ns | | | |", case.name, ask(now, case.name)?));
            continue;
        }
        let contestants = [before, now, now];
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for run in 0..runs {
            for step in 0..contestants.len() {
                let at = (run + step) % contestants.len();
                times[at].push(ask(contestants[at], case.name)?);
            }
        }
        let [before, now, again] = times;
        let comparison = Comparison::of(&before, &now, &again);
        say(&format!("| {} | {:.0} ns | {:.0} ns | {comparison} |", case.name, median(before), median(now)));
    }
    Ok(())
}

/// Measures one decision in a process of its own.
fn ask(program: &Path, case: &str) -> Outcome<f64> {
    let output = Command::new(program).args(["decide", case]).output()?;
    if !output.status.success() {
        return Err(format!(
            "`{} decide {case}`: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        )
        .into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// Prints the nanoseconds of one decision. Each decision parses the call again, as for a new call.
pub(crate) fn decide(name: &str) -> Outcome {
    let case = CASES.iter().find(|case| case.name == name).ok_or_else(|| format!("no case `{name}`"))?;
    let conditions = file::parse(&(case.conditions)(), &FileSource::new(Tier::User, Path::new("bench.toml")));
    if let Some(finding) = conditions.findings.iter().find(|finding| finding.severity == Severity::Error) {
        return Err(format!("the rules of `{name}`: {}", finding.message).into());
    }
    let policy = Policy::new(conditions.rules.into_iter().chain(rules(case.rules, case.tool)).collect());
    let arguments = (case.arguments)();
    let server = ServerName::new("github")?;
    let once = || {
        let facts = CallFacts {
            server: &server,
            builtin: None,
            tool: case.tool,
            arguments: &Arguments::new(&arguments),
            annotations: &Value::Null,
            mode: Mode::Default,
            presence: Presence::Interactive,
            asker: Asker::Model,
            subagent: None,
            folder: Path::new("/work"),
            folder_is_trusted: true,
            remembered: None,
        };
        policy.decide(black_box(&facts)).decision
    };
    black_box(once());
    let (started, mut count) = (Instant::now(), 0_u32);
    while started.elapsed() < MEASURED {
        for _ in 0..BATCH {
            black_box(once());
        }
        count += BATCH;
    }
    say(&format!("{:.1}", started.elapsed().as_secs_f64() * 1e9 / f64::from(count)));
    Ok(())
}

/// Rules about other tools, in every form that names tools, and below them the one that decides.
fn rules(count: usize, tool: &str) -> Vec<Rule> {
    let named = |server: String| ServerPattern::Named(NamePattern::Exact(server));
    let rule = |server, tool, decision, priority| Rule { priority, ..Rule::about(server, tool, decision) };
    let other = |at: usize| {
        let (server, tool) = match at % 4 {
            0 => (named(format!("server{at}")), NamePattern::Exact(tool.to_owned())),
            1 => (named("github".to_owned()), NamePattern::Exact(format!("other_tool_{at}"))),
            2 => (ServerPattern::Any, NamePattern::Glob(format!("tool_{at}_*"))),
            _ => (named(format!("server{at}")), NamePattern::Any),
        };
        rule(server, tool, Decision::Deny, 500)
    };
    let own = rule(named("github".to_owned()), NamePattern::Exact(tool.to_owned()), Decision::Allow, 100);
    (0..count).map(other).chain([own]).collect()
}
