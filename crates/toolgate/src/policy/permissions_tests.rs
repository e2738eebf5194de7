//! What a program can change while it runs.

use tokio::sync::broadcast::error::TryRecvError;

use super::test_notation::{call, rule, rules};
use super::{Decision, PermissionChange, Permissions, Policy, ServerPermissions, ToolFacts};
use crate::filter::NamePattern;
use crate::server_name::ServerName;

fn permissions(written: &str) -> Permissions {
    Permissions::new(Policy::new(rules(written)))
}

fn decide(permissions: &Permissions, called: &str) -> &'static str {
    call(called).with_facts(|facts| permissions.decide(facts).decision.as_str())
}

fn name(server: &str) -> ServerName {
    ServerName::new(server).unwrap()
}

#[test]
fn rules_come_and_go() {
    let permissions = permissions("u100 ask s/t");
    let allow = permissions.add(rule("u200 allow s/t"));
    assert_eq!(decide(&permissions, "s/t"), "allow");
    let deny = permissions.add(rule("u300 deny s/t"));
    assert_eq!(decide(&permissions, "s/t"), "deny");
    assert!(permissions.remove(deny));
    assert!(!permissions.remove(deny));
    assert_eq!(decide(&permissions, "s/t"), "allow");
    assert!(permissions.remove(allow));
    assert_eq!(decide(&permissions, "s/t"), "ask");
}

#[test]
fn a_server_without_a_set_is_as_it_is_trusted() {
    let trusting = permissions("u!90 allow s/* modes=default,autoEdit,yolo");
    assert_eq!(decide(&trusting, "s/t"), "allow");
    assert_eq!(decide(&permissions(""), "s/t"), "ask");
    trusting.set_server(&name("s"), ServerPermissions::only(["read", "list"]));
    for (called, expected) in
        [("s/read", "allow"), ("s/list", "allow"), ("s/t", "deny"), ("other/t", "ask"), ("S/read", "deny")]
    {
        assert_eq!(decide(&trusting, called), expected, "{called}");
    }
    assert!(trusting.clear_server(&name("s")));
    assert!(!trusting.clear_server(&name("s")));
    assert_eq!(decide(&trusting, "s/t"), "allow");
}

#[test]
fn a_set_says_what_is_allowed_denied_and_the_rest() {
    let permissions = permissions("defaults ; u!100 allow */often ; u!200 deny */never");
    let set = ServerPermissions {
        allowed: vec![NamePattern::Glob("get_*".to_owned()), NamePattern::Exact("never".to_owned())],
        denied: vec![NamePattern::Exact("get_secret".to_owned()), NamePattern::Exact("often".to_owned())],
        default: Some(Decision::Ask),
    };
    permissions.set_server(&name("s"), set);
    let cases = [
        ("s/get_user", "allow"),
        ("s/get_secret", "deny"),
        ("s/often", "deny"),
        ("s/never", "deny"),
        ("s/other", "ask"),
        ("headless s/other", "deny"),
        ("plan s/get_user", "ask"),
        ("t/often", "allow"),
    ];
    for (called, expected) in cases {
        assert_eq!(decide(&permissions, called), expected, "{called}");
    }
}

#[test]
fn what_is_denied_everywhere_is_outranked_by_nothing() {
    let permissions = permissions("a999 allow */* ; u999 allow s/delete_all");
    permissions.deny_everywhere("delete_all");
    permissions.add(rule("a999 allow s/delete_all"));
    for called in ["s/delete_all", "yolo other/delete_all", "granted @w/delete_all"] {
        assert_eq!(decide(&permissions, called), "deny", "{called}");
        let is_shown = call(called).with_facts(|facts| permissions.visible(&ToolFacts::from(facts)));
        assert!(!is_shown, "{called}");
    }
    assert!(permissions.lift_deny("delete_all"));
    assert_eq!(decide(&permissions, "s/delete_all"), "allow");
}

#[test]
fn what_is_written_is_read_again_and_what_was_added_stays() {
    let permissions = permissions("u100 deny s/t");
    let id = permissions.add(rule("u200 allow s/added"));
    permissions.deny_everywhere("gone");
    let before = permissions.policy();
    permissions.replace_base(Policy::new(rules("u100 allow s/t ; u100 allow s/gone")));
    for (called, expected) in [("s/t", "allow"), ("s/added", "allow"), ("s/gone", "deny")] {
        assert_eq!(decide(&permissions, called), expected, "{called}");
    }
    assert_eq!(call("s/t").with_facts(|facts| before.decide(facts).decision), Decision::Deny, "a frozen policy stays");
    assert!(permissions.remove(id));
    assert_eq!(decide(&permissions, "s/added"), "ask");
}

#[test]
fn every_change_is_news_and_holds_when_it_comes() {
    let permissions = permissions("");
    let mut news = permissions.subscribe();
    let id = permissions.add(rule("u200 allow s/t"));
    permissions.remove(id);
    permissions.remove(id);
    permissions.set_server(&name("s"), ServerPermissions::only(["t"]));
    permissions.clear_server(&name("s"));
    permissions.deny_everywhere("t");
    permissions.deny_everywhere("t");
    permissions.lift_deny("t");
    permissions.replace_base(Policy::default());
    let expected = [
        PermissionChange::Added(id),
        PermissionChange::Removed(id),
        PermissionChange::ServerSet(name("s")),
        PermissionChange::ServerCleared(name("s")),
        PermissionChange::DeniedEverywhere("t".to_owned()),
        PermissionChange::DenyLifted("t".to_owned()),
        PermissionChange::BaseReplaced,
    ];
    for change in expected {
        assert_eq!(news.try_recv(), Ok(change));
    }
    assert_eq!(news.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn many_threads_may_change_and_decide() {
    let permissions = permissions("u1 ask s/t");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let id = permissions.add(rule("u200 allow s/t"));
                    assert_eq!(decide(&permissions, "s/t"), "allow");
                    assert!(permissions.remove(id));
                }
            });
        }
    });
    assert_eq!(decide(&permissions, "s/t"), "ask");
    assert_eq!(permissions.policy().rules().len(), 1);
}
