//! What calls of a tool have in common, argument by argument: what was given is asked for, and what was not given may not be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::Proposal;
use super::toml_text::{pointer, quoted, value};
use crate::limits::SUGGESTED_VALUES_MAX;

type Members = Map<String, Value>;

/// One proposal for all calls that give the same arguments.
pub(super) fn proposals(calls: &[&Members]) -> Vec<Proposal> {
    let all_names: BTreeSet<&String> = calls.iter().flat_map(|members| members.keys()).collect();
    let mut by_names: BTreeMap<Vec<&String>, Vec<&Members>> = BTreeMap::new();
    for call in calls {
        let mut names: Vec<&String> = call.keys().collect();
        names.sort();
        by_names.entry(names).or_default().push(call);
    }
    let proposal = |(names, group): (Vec<&String>, Vec<&Members>)| {
        let absent: Vec<&str> =
            all_names.iter().filter(|name| !names.contains(name)).map(|name| name.as_str()).collect();
        Proposal { calls: group.len(), conditions: of_group(&group, &names, &absent) }
    };
    by_names.into_iter().map(proposal).collect()
}

fn of_group(group: &[&Members], names: &[&String], absent: &[&str]) -> Result<String, String> {
    if names.is_empty() {
        // A condition on no argument: that there is none.
        return Ok("argsPattern = \"^\\\\{\\\\}$\"\n".to_owned());
    }
    let mut different: Vec<&Members> = Vec::new();
    for call in group {
        if !different.contains(call) {
            different.push(call);
        }
    }
    let values_of = |name: &str| -> Vec<&Value> {
        let mut values: Vec<&Value> = Vec::new();
        for value in different.iter().filter_map(|call| call.get(name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let varying = names.iter().filter(|name| values_of(name).len() > 1).count();
    let mut lines = String::from("[rule.when]\n");
    // Two arguments that vary together are not allowed in every mixture.
    if varying > 1 && different.len() <= SUGGESTED_VALUES_MAX {
        lines.push_str(&any_of(&different, names)?);
    } else {
        for name in names {
            let test = test(&values_of(name)).ok_or_else(|| cannot(name, values_of(name).len()))?;
            lines.push_str(&format!("{} = {test}\n", key(name)?));
        }
    }
    for name in absent {
        lines.push_str(&format!("{} = {{ absent = true }}\n", key(name)?));
    }
    Ok(lines)
}

/// Each call as it was.
fn any_of(calls: &[&Members], names: &[&String]) -> Result<String, String> {
    let mut lines = String::from("any = [\n");
    for call in calls {
        let mut tests = Vec::new();
        for name in names {
            let text = call.get(name.as_str()).and_then(value).ok_or_else(|| cannot(name, 1))?;
            tests.push(format!("{} = {{ equals = {text} }}", key(name)?));
        }
        lines.push_str(&format!("  {{ {} }},\n", tests.join(", ")));
    }
    lines.push_str("]\n");
    Ok(lines)
}

fn key(name: &str) -> Result<String, String> {
    pointer(name).ok_or_else(|| format!("no condition can name the argument `{name}`"))
}

fn cannot(name: &str, count: usize) -> String {
    match count {
        1 => format!("no condition can say what the argument `{name}` was"),
        count => format!("the argument `{name}` had {count} different values, which have no folder in common"),
    }
}

/// The test that these values pass, and as few others as possible.
pub(super) fn test(values: &[&Value]) -> Option<String> {
    if values.len() > SUGGESTED_VALUES_MAX {
        return common_folder(values).map(|folder| format!("{{ under = {} }}", quoted(&folder)));
    }
    let written: Option<Vec<String>> = values.iter().map(|one| value(one)).collect();
    match written?.as_slice() {
        [] => None,
        [one] => Some(format!("{{ equals = {one} }}")),
        several => Some(format!("{{ one_of = [{}] }}", several.join(", "))),
    }
}

/// The folder that all of these paths are in.
fn common_folder(values: &[&Value]) -> Option<String> {
    let mut texts = values.iter().map(|value| value.as_str());
    let is_plain =
        |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
    let folder_of = |text: &str| {
        let path = Path::new(text);
        let is_path = text.contains('/') && !text.contains("://") && !text.contains(['\n', '\0', '~', '\\', '%']);
        (is_path && is_plain(path)).then(|| path.parent().map(Path::to_owned)).flatten()
    };
    let first = folder_of(texts.next()??)?;
    let common = texts.try_fold(first, |common: PathBuf, text| {
        let folder = folder_of(text?)?;
        let shared: PathBuf =
            common.components().zip(folder.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        Some(shared)
    })?;
    let has_name = common.components().any(|part| matches!(part, Component::Normal(_)));
    has_name.then(|| common.to_str().map(ToOwned::to_owned)).flatten()
}
