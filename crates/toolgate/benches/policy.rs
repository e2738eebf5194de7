//! How long a decision takes: rules that name other tools must cost nothing, and a look at every rule must be far slower.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use toolgate::filter::{Arguments, NamePattern};
use toolgate::policy::{CallFacts, Decision, Mode, Policy, Presence, Rule, ServerPattern};
use toolgate::{Asker, ServerName};

fn rule(server: ServerPattern, tool: NamePattern, decision: Decision, priority: u16) -> Rule {
    Rule { priority, ..Rule::about(server, tool, decision) }
}

fn named(server: &str) -> ServerPattern {
    ServerPattern::Named(NamePattern::Exact(server.to_owned()))
}

/// So many rules that do not name the tool, in every way that a rule names tools, and one below them that does.
fn rules(count: usize) -> Vec<Rule> {
    let other = |at: usize| {
        let (server, tool) = match at % 4 {
            0 => (named(&format!("server{at}")), NamePattern::Exact("create_issue".to_owned())),
            1 => (named("github"), NamePattern::Exact(format!("other_tool_{at}"))),
            2 => (ServerPattern::Any, NamePattern::Glob(format!("tool_{at}_*"))),
            _ => (named(&format!("server{at}")), NamePattern::Any),
        };
        rule(server, tool, Decision::Deny, 500)
    };
    let own = rule(named("github"), NamePattern::Exact("create_issue".to_owned()), Decision::Allow, 100);
    (0..count).map(other).chain([own]).collect()
}

/// The plain way: every rule in order, until one is about the call.
fn look_at_every_rule(policy: &Policy, facts: &CallFacts<'_>) -> Decision {
    let is_about = |rule: &Rule| {
        let server = match &rule.server {
            ServerPattern::Any => true,
            ServerPattern::Named(name) => name.matches(facts.server),
            ServerPattern::BuiltIn(name) => facts.builtin == Some(name),
        };
        server && rule.tool.matches(facts.tool) && (rule.modes.is_empty() || rule.modes.contains(&facts.mode))
    };
    policy.rules().find(|rule| is_about(rule)).map_or(Decision::Ask, |rule| rule.decision)
}

#[expect(clippy::expect_used, reason = "the name is written here")]
fn with_facts<T>(tool: &str, arguments: &Value, look: impl FnOnce(&CallFacts<'_>) -> T) -> T {
    let server = ServerName::new("github").expect("a name");
    look(&CallFacts {
        server: &server,
        builtin: None,
        tool,
        arguments: &Arguments::new(arguments),
        annotations: &Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder: Path::new("/work"),
        folder_is_trusted: true,
        remembered: None,
    })
}

fn decisions(criterion: &mut Criterion) {
    let arguments = json!({"title": "It does not start", "body": "Since yesterday.", "labels": ["bug"]});
    let (few, many) = (Policy::new(rules(100)), Policy::new(rules(10_000)));
    let mut group = criterion.benchmark_group("decide");
    with_facts("create_issue", &arguments, |facts| {
        assert_eq!(many.decide(facts).decision, Decision::Allow);
        assert_eq!(look_at_every_rule(&many, facts), Decision::Allow);
        group.bench_function("100 rules", |it| it.iter(|| few.decide(black_box(facts))));
        group.bench_function("10000 rules", |it| it.iter(|| many.decide(black_box(facts))));
        group.bench_function("10000 rules, every one looked at", |it| {
            it.iter(|| look_at_every_rule(&many, black_box(facts)));
        });
    });
    let command = json!({"command": "cd src && cargo test --workspace | tail -20"});
    group.bench_function("10000 rules, a shell command of three parts", |it| {
        // The command is taken apart anew each time, as for a new call.
        it.iter(|| with_facts("run_shell_command", &command, |facts| many.decide(black_box(facts))));
    });
    group.finish();
    criterion.bench_function("put 10000 rules in order", |it| {
        it.iter_batched(|| rules(10_000), Policy::new, criterion::BatchSize::LargeInput);
    });
}

criterion_group!(benches, decisions);
criterion_main!(benches);
