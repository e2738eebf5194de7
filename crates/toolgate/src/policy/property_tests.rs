//! What must hold for any rules: more restrictions never let more through, and neither do fewer permissions.

use std::collections::BTreeSet;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use proptest::strategy::ValueTree;

use super::test_notation::{Call, DEFAULTS, call, rule, rules};
use super::{Decision, Mode, Policy, Presence, Rule, Tier, ToolFacts};

const CONDITIONS: [&str; 22] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "prefix=git",
    "prefix='rm -rf'",
    "prefix='make|timeout'",
    "prefix=cd",
    "regex=git",
    "regex='^make$'",
    "args=secret",
    "args='\"path\":\"/etc'",
    "args='git.*make'",
    "entry=src",
    "entry='rm'",
    "read-only",
    "interactive=true",
    "interactive=false",
    "askers=cli",
    "subagent=reader",
];

const COMMANDS: [&str; 22] = [
    "ls",
    "make",
    "git status",
    "git push",
    "rm -rf y",
    "rm x",
    "cat secret",
    "make > log",
    "git log > f",
    "timeout 5 make",
    "timeout 5 git push > f",
    "sudo git push",
    "bash -c 'make; rm -rf y'",
    "git fetch | make",
    "git add . && make",
    "echo $(git push)",
    "find . -delete",
    "A=1 make",
    "echo 'a",
    "$x y",
    "git $x",
    "nice rm -rf 'y'",
];

const OTHER_CALLS: [&str; 12] = [
    "s/T {}",
    "S/get·x {}",
    "s/t {}",
    "s/t {\"path\": \"/etc/passwd\"}",
    "s/get_x {\"path\": \"src/a\"}",
    "S/t {\"a\": \"secret\"}",
    "github/t {}",
    "github/get_x {\"command\": \"git push && rm x\"}",
    "@workspace/t {}",
    "@w/write_file {}",
    "@w/read_file {\"path\": \"src\"}",
    "@w/run_shell_command {}",
];

const FLAGS: [&str; 10] = [
    "",
    "",
    "",
    "by=cli",
    "subagent=reader",
    "untrusted",
    "read-only",
    "granted",
    "granted-exactly",
    "by=cli read-only",
];

const SERVERS: [&str; 7] = ["*", "*", "s", "S", "git*", "@workspace", "w"];

const TOOLS: [&str; 9] =
    ["*", "t", "get_*", "*_x", "Get_X", "s__T", "run_shell_command", "run_shell_command", "run_shell_command"];

/// Rules of these tiers, without `modes`.
fn some_rule(tiers: &'static [&'static str]) -> impl Strategy<Value = String> {
    let names = (select(SERVERS.as_slice()), select(TOOLS.as_slice()));
    let place = (select(tiers), select([0_u16, 44, 50, 100, 998].as_slice()), select(["", "", "", "!"].as_slice()));
    let decision = select(["allow", "allow", "ask", "deny"].as_slice());
    let conditions =
        (select(CONDITIONS.as_slice()), select(CONDITIONS.as_slice()), select(["", "", "redirection"].as_slice()));
    (place, decision, names, conditions).prop_map(
        |((tier, priority, kind), decision, (server, tool), (one, other, more))| {
            format!("{tier}{kind}{priority} {decision} {server}/{tool} {one} {other} {more}")
        },
    )
}

fn some_rules(tiers: &'static [&'static str]) -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(some_rule(tiers), 0..9).prop_map(|lines| lines.iter().map(|line| rule(line)).collect())
}

fn some_call() -> impl Strategy<Value = Call> {
    let modes = select(["plan", "default", "default", "autoEdit", "yolo"].as_slice());
    let commands = COMMANDS.iter().flat_map(|command| [format!("$ {command}"), format!("s$ {command}")]);
    let called: Vec<String> = commands.chain(OTHER_CALLS.map(str::to_owned)).collect();
    (modes, select(["", "headless"].as_slice()), select(FLAGS.as_slice()), select(called)).prop_map(
        |(mode, presence, flags, called)| {
            call(
                &[mode, presence, flags, &called]
                    .map(str::trim)
                    .iter()
                    .filter(|it| !it.is_empty())
                    .copied()
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        },
    )
}

fn some_calls() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(some_call(), 12)
}

fn decide(policy: &Policy, call: &Call) -> Decision {
    call.with_facts(|facts| policy.decide(facts).decision)
}

/// The policy of several lists of rules.
fn policy(rules: &[&[Rule]]) -> Policy {
    Policy::new(rules.concat())
}

const ALL: &[&str] = &["d", "e", "w", "u", "a", "r"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_deny_never_widens(before in some_rules(ALL), deny in some_rule(ALL), calls in some_calls()) {
        let deny = Rule { decision: Decision::Deny, ..rule(&deny) };
        let (before, after) = (policy(&[&before]), policy(&[&before, std::slice::from_ref(&deny)]));
        for call in &calls {
            prop_assert!(decide(&after, call) >= decide(&before, call), "{deny:?}\n{call:?}");
        }
    }

    #[test]
    fn removing_an_allow_never_widens(before in some_rules(ALL), allow in some_rule(ALL), calls in some_calls()) {
        let allow = Rule { decision: Decision::Allow, ..rule(&allow) };
        let (before, with) = (policy(&[&before]), policy(&[&before, std::slice::from_ref(&allow)]));
        for call in &calls {
            prop_assert!(decide(&before, call) >= decide(&with, call), "{allow:?}\n{call:?}");
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        (rules, shuffled) in some_rules(ALL).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        calls in some_calls(),
    ) {
        let (rules, shuffled) = (policy(&[&rules]), policy(&[&shuffled]));
        for call in &calls {
            prop_assert_eq!(decide(&rules, call), decide(&shuffled, call), "{:?}", call);
        }
    }

    /// Also with the rules that toolgate brings, as long as nobody else writes into their tier: those have `modes`.
    #[test]
    fn a_tighter_mode_never_allows_more(
        written in some_rules(ALL),
        above in some_rules(&["e", "w", "u", "a", "r"]),
        calls in some_calls(),
    ) {
        let (written, with_defaults) = (policy(&[&written]), policy(&[&above, &rules(DEFAULTS)]));
        for (policy, call) in calls.iter().flat_map(|call| [(&written, call), (&with_defaults, call)]) {
            let decisions = Mode::ALL.map(|mode| decide(policy, &Call { mode, ..call.clone() }));
            prop_assert!(decisions.is_sorted_by(|tighter, looser| tighter >= looser), "{decisions:?} {call:?}");
        }
    }

    #[test]
    fn a_workspace_an_extension_or_a_flag_never_widens(
        others in some_rules(&["d", "u", "a"]),
        workspace in some_rules(&["w"]),
        extension in some_rules(&["e", "r"]),
        calls in some_calls(),
    ) {
        let both = policy(&[&others, &workspace, &extension]);
        let one_of_them = [policy(&[&others, &workspace]), policy(&[&others, &extension])];
        let others = policy(&[&others]);
        for call in &calls {
            for one in &one_of_them {
                prop_assert!(decide(one, call) >= decide(&others, call), "{call:?}");
                prop_assert!(decide(&both, call) >= decide(one, call), "{call:?}");
            }
        }
    }

    /// For patterns that are not bound to the beginning or the end of the text, as none of these are.
    #[test]
    fn a_command_is_never_easier_beside_another(rules in some_rules(ALL), like in some_call(), command in select(COMMANDS.as_slice())) {
        let rules = policy(&[&rules]);
        let alone = like.running(command);
        let alone = Call { tool: "run_shell_command".to_owned(), ..alone };
        for beside in [format!("cd x && {command}"), format!("{command}; ls"), format!("make || {command}"), format!("({command})")] {
            prop_assert!(decide(&rules, &alone.running(&beside)) >= decide(&rules, &alone), "{beside} {like:?}");
        }
    }

    #[test]
    fn a_hidden_tool_has_no_call_that_is_not_denied(rules in some_rules(ALL), defaults in any::<bool>(), calls in some_calls()) {
        let rules = if defaults { [rules, super::test_notation::rules(DEFAULTS)].concat() } else { rules };
        let policy = Policy::new(rules);
        for call in &calls {
            let (visible, decision) = call.with_facts(|facts| (policy.visible(&ToolFacts::from(facts)), policy.decide(facts).decision));
            prop_assert!(visible || decision == Decision::Deny, "{decision:?} {call:?}");
        }
    }

    /// What the index finds is what a look at every rule finds.
    #[test]
    fn the_index_leaves_no_rule_out(rules in some_rules(ALL), calls in some_calls()) {
        let policy = Policy::new(rules);
        for call in &calls {
            let places: Vec<usize> = policy.candidates(&super::spellings::Spellings::new(&call.server, &call.tool)).collect();
            prop_assert!(places.is_sorted());
            let found: BTreeSet<usize> = places.iter().copied().collect();
            prop_assert_eq!(found.len(), places.len());
            for (place, ranked) in policy.ranked().iter().enumerate().filter(|(place, _)| !found.contains(place)) {
                let fits = call.with_facts(|facts| super::matching::matches(ranked, &super::subject::Subject::call(facts)));
                prop_assert!(fits.is_err() || ranked.rule.has_no_effect(), "{place}");
            }
        }
    }
}

#[test]
fn the_samples_reach_every_decision() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    let mut by_tier = BTreeSet::new();
    for _ in 0..300 {
        let (rules, calls) = (some_rules(ALL), some_calls()).new_tree(&mut runner).unwrap().current();
        let policy = Policy::new(rules);
        for call in &calls {
            let verdict = call.with_facts(|facts| policy.decide(facts));
            seen.insert((verdict.decision.as_str(), call.presence == Presence::Headless));
            if let super::Because::Rule(rule) = &verdict.because {
                by_tier.insert(rule.tier);
            }
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert_eq!(by_tier.into_iter().collect::<Vec<_>>(), Tier::ALL);
}
