//! What a name in a rule or a list is about: a tool of any server, or, when it is written the way tools are shown, a tool of one server.
//!
//! Shown names can be read in more than one way: `mcp_a_b_c` may be `b_c` of `a` or `c` of `a_b`. A restriction is about all of them; a
//! permission only about one that is certain. Tools of the built-in server have other names besides.

use super::decision::Decision;
use super::rule::ServerPattern;
use crate::filter::NamePattern;
use crate::servers::BUILT_IN_SERVERS;
use crate::servers::built_in_tools::{possible_real_name, real_name};

/// Tools of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whose tools.
    pub server: ServerPattern,
    /// Which of them, by the names their servers give them.
    pub tool: NamePattern,
}

/// How `mcp_server_tool` begins.
const PREFIX: &str = "mcp_";

/// How `mcp_server_tool` begins for the tool of any server.
const OF_ANY_SERVER: &str = "mcp_*_";

/// What stands between server and tool in `server__tool`.
const BETWEEN: &str = "__";

/// What `name` is about in a rule with that decision. Nothing when it is a permission that could mean several tools; [`splits_of`] tells which.
#[must_use]
pub fn targets_of(name: &str, decision: Decision) -> Vec<Target> {
    let own = || Target { server: ServerPattern::Any, tool: NamePattern::of(name) };
    let (splits, in_stars) = readings(name);
    let mut targets: Vec<Target> = match decision {
        Decision::Allow if splits.is_empty() => vec![own()],
        Decision::Ask | Decision::Deny => splits.into_iter().chain(in_stars).chain([own()]).collect(),
        // Every server is meant, so it does not matter where the name of one ends.
        Decision::Allow if splits.len() == 1 || name.starts_with(OF_ANY_SERVER) => splits.into_iter().take(1).collect(),
        Decision::Allow => Vec::new(),
    };
    let by_other_names: Vec<Target> = targets.iter().flat_map(|target| by_other_name(target, decision)).collect();
    targets.extend(by_other_names);
    targets
}

/// The tools of the built-in server that a target means by another name they have.
fn by_other_name(target: &Target, decision: Decision) -> Vec<Target> {
    let NamePattern::Exact(name) = &target.tool else { return Vec::new() };
    let is_permission = decision == Decision::Allow;
    let Some(real) = (if is_permission { real_name(name) } else { possible_real_name(name) }) else {
        return Vec::new();
    };
    let tool = NamePattern::of(real);
    match &target.server {
        ServerPattern::Any => {
            let built_in =
                |server: &&str| Target { server: ServerPattern::BuiltIn((*server).to_owned()), tool: tool.clone() };
            BUILT_IN_SERVERS.iter().map(built_in).collect()
        }
        ServerPattern::BuiltIn(_) => vec![Target { server: target.server.clone(), tool }],
        // The server that is named may be the built-in one: a restriction must not miss it.
        ServerPattern::Named(_) if !is_permission => vec![Target { server: target.server.clone(), tool }],
        ServerPattern::Named(_) => Vec::new(),
    }
}

/// The tools of servers that a name could mean when it is written the way tools are shown.
#[must_use]
pub fn splits_of(name: &str) -> Vec<Target> {
    readings(name).0
}

/// Whether a name is written the way tools are shown.
#[must_use]
pub fn is_shown_form(name: &str) -> bool {
    !readings(name).0.is_empty()
}

/// Every way to read a shown name: split at a separator, the shortest server first, and split inside a star, which stands for a separator as
/// for anything else.
fn readings(name: &str) -> (Vec<Target>, Vec<Target>) {
    let qualified = name.strip_prefix(PREFIX);
    if qualified == Some("*") {
        return (vec![Target { server: ServerPattern::Named(NamePattern::Any), tool: NamePattern::Any }], Vec::new());
    }
    let (mut splits, mut in_stars) = (split_at(name, BETWEEN), Vec::new());
    if let Some(rest) = qualified {
        splits.splice(0..0, split_at(rest, "_"));
        in_stars = split_in_stars(rest);
    } else if !splits.is_empty() {
        in_stars = split_in_stars(name);
    }
    (splits, in_stars)
}

fn split_at(name: &str, separator: &str) -> Vec<Target> {
    let splits = name.match_indices(separator).filter_map(|(at, found)| {
        let (server, tool) = (name.get(..at)?, name.get(at + found.len()..)?);
        (!server.is_empty() && !tool.is_empty()).then(|| target(server, tool))
    });
    splits.collect()
}

fn split_in_stars(name: &str) -> Vec<Target> {
    let splits = name.match_indices('*').filter_map(|(at, star)| {
        let (before, after) = (name.get(..at)?, name.get(at + star.len()..)?);
        Some(target(&format!("{before}*"), &format!("*{after}")))
    });
    splits.collect()
}

fn target(server: &str, tool: &str) -> Target {
    Target { server: ServerPattern::Named(NamePattern::of(server)), tool: NamePattern::of(tool) }
}

#[cfg(test)]
mod tests {
    use super::{Decision, ServerPattern, targets_of};

    fn read(name: &str, decision: Decision) -> String {
        let shown = |server: &ServerPattern| match server {
            ServerPattern::Any => "any".to_owned(),
            ServerPattern::Named(name) => name.to_string(),
            ServerPattern::BuiltIn(name) => format!("built-in {name}"),
        };
        let targets = targets_of(name, decision);
        let targets = targets.iter().map(|target| format!("{}/{}", shown(&target.server), target.tool));
        targets.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_permission_is_about_one_tool_and_a_restriction_about_all_that_could_be_meant() {
        // name, what a permission is about, what a restriction is about
        let cases = [
            ("*", "any/*", "any/*"),
            ("read_file", "any/read_file", "any/read_file"),
            ("read_*", "any/read_*", "any/read_*"),
            ("github__search", "github/search", "github/search any/github__search"),
            ("github__*", "github/*", "github/* github__*/* any/github__*"),
            ("a__b__c", "", "a/b__c a__b/c any/a__b__c"),
            ("mcp_*", "*/*", "*/* any/mcp_*"),
            ("mcp_github_search", "github/search", "github/search any/mcp_github_search"),
            ("mcp_a_b_c", "", "a/b_c a_b/c any/mcp_a_b_c"),
            ("mcp_github_*", "github/*", "github/* github_*/* any/mcp_github_*"),
            ("mcp_*_list_all", "*/list_all", "*/list_all *_list/all */*_list_all any/mcp_*_list_all"),
            ("mcp_*_search", "*/search", "*/search */*_search any/mcp_*_search"),
            ("__", "any/__", "any/__"),
            (
                "ShellTool",
                "any/ShellTool built-in workspace/run_shell_command",
                "any/ShellTool built-in workspace/run_shell_command",
            ),
            ("shelltool", "any/shelltool", "any/shelltool built-in workspace/run_shell_command"),
            (
                "grep_search",
                "any/grep_search built-in workspace/search_file_content",
                "any/grep_search built-in workspace/search_file_content",
            ),
            ("w__ShellTool", "w/ShellTool", "w/ShellTool any/w__ShellTool w/run_shell_command"),
            ("grep_*", "any/grep_*", "any/grep_*"),
            ("mcp_x", "any/mcp_x", "any/mcp_x"),
            ("mcp_git*", "any/mcp_git*", "git*/* any/mcp_git*"),
            ("mcp_*search", "any/mcp_*search", "*/*search any/mcp_*search"),
            ("mcp_g*t", "any/mcp_g*t", "g*/*t any/mcp_g*t"),
        ];
        for (name, permitted, restricted) in cases {
            assert_eq!(read(name, Decision::Allow), permitted, "{name}");
            assert_eq!(read(name, Decision::Deny), restricted, "{name}");
        }
    }
}
