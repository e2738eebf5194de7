//! Whether one rule is about every call that another is about.

use crate::filter::NamePattern;
use crate::glob::glob;
use crate::policy::decision::Mode;
use crate::policy::rule::{Rule, ServerPattern};
use crate::servers::BUILT_IN_SERVERS;
use crate::shell::Reach;

/// Whether `wide` matches every call that `narrow` matches. When in doubt, no.
pub(super) fn covers(wide: &Rule, narrow: &Rule) -> bool {
    wide.conditions.is_empty()
        && server_covers(wide, narrow)
        && tool_covers(wide, narrow)
        && modes_cover(&wide.modes, &narrow.modes)
        && wide.interactive.is_none_or(|interactive| narrow.interactive == Some(interactive))
        && askers_cover(wide, narrow)
        && (wide.subagent.is_none() || wide.subagent == narrow.subagent)
}

fn tool_covers(wide: &Rule, narrow: &Rule) -> bool {
    as_written_or_folded(wide, &wide.tool, &narrow.tool)
}

/// Whether a name of `wide` covers one of another rule. A restriction does not look at capitals.
fn as_written_or_folded(wide: &Rule, name: &NamePattern, narrow: &NamePattern) -> bool {
    name_covers(name, narrow) || (wide.reach() == Reach::Restriction && name_covers(&name.folded(), &narrow.folded()))
}

fn server_covers(wide_rule: &Rule, narrow: &Rule) -> bool {
    match (&wide_rule.server, &narrow.server) {
        (ServerPattern::Any, _) => true,
        (ServerPattern::Named(wide), _) if is_for_others(wide_rule, wide) && could_be_built_in(narrow) => false,
        (ServerPattern::Named(wide), ServerPattern::Named(narrow)) => as_written_or_folded(wide_rule, wide, narrow),
        (ServerPattern::BuiltIn(wide), ServerPattern::BuiltIn(narrow)) => wide == narrow,
        (ServerPattern::Named(name), _) => *name == NamePattern::Any,
        (ServerPattern::BuiltIn(_), _) => false,
    }
}

/// Whether a permission names servers by `*`, which does not include the built-in one.
fn is_for_others(rule: &Rule, server: &NamePattern) -> bool {
    rule.reach() == Reach::Permission && !matches!(server, NamePattern::Exact(_))
}

fn could_be_built_in(rule: &Rule) -> bool {
    match &rule.server {
        ServerPattern::Named(name) if is_for_others(rule, name) => false,
        ServerPattern::Named(name) => BUILT_IN_SERVERS.iter().any(|server| name.folded().matches(server)),
        ServerPattern::Any | ServerPattern::BuiltIn(_) => true,
    }
}

/// Whether every name of the form `narrow` has the form `wide`.
pub(super) fn name_covers(wide: &NamePattern, narrow: &NamePattern) -> bool {
    // A star of the narrow form is a letter that no name has: only a star of the wide form takes it.
    const STAR: &str = "\0";
    match (wide, narrow) {
        (NamePattern::Any, _) => true,
        (NamePattern::Exact(wide), NamePattern::Exact(narrow)) => wide == narrow,
        (NamePattern::Glob(wide), NamePattern::Exact(narrow)) => glob(wide, narrow),
        (NamePattern::Glob(wide), NamePattern::Glob(narrow)) => glob(wide, &narrow.replace('*', STAR)),
        (NamePattern::Glob(_), NamePattern::Any) | (NamePattern::Exact(_), _) => false,
    }
}

fn modes_cover(wide: &[Mode], narrow: &[Mode]) -> bool {
    let narrow = if narrow.is_empty() { &Mode::ALL[..] } else { narrow };
    wide.is_empty() || narrow.iter().all(|mode| wide.contains(mode))
}

fn askers_cover(wide: &Rule, narrow: &Rule) -> bool {
    let narrow = if narrow.askers.is_empty() { &crate::asker::Asker::ALL[..] } else { &narrow.askers };
    wide.askers.is_empty() || narrow.iter().all(|asker| wide.askers.contains(asker))
}
