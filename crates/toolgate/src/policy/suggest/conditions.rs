//! What calls of a tool have in common, argument by argument: what was given is asked for, and what was not given may not be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::toml_text::{pointer, quoted, value};
use super::{Conditions, Proposal};
use crate::limits::{SUGGESTED_FOLDER_VALUES_MAX, SUGGESTED_VALUES_MAX};

type Members = Map<String, Value>;

/// Arguments with content to write. They may have any value when the path is restricted.
const CONTENTS: [&str; 9] =
    ["content", "contents", "text", "body", "data", "oldText", "newText", "old_string", "new_string"];

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

fn of_group(group: &[&Members], names: &[&String], absent: &[&str]) -> Result<Conditions, String> {
    if names.is_empty() {
        // A condition on no argument: that there is none.
        return Ok(Conditions::exactly("argsPattern = \"^\\\\{\\\\}$\"\n"));
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
    let has_folder = names.iter().any(|name| folder_of_many(name, &values_of(name)).is_some());
    let mut conditions = Conditions::exactly("[rule.when]\n");
    // Two arguments that vary together are not allowed in every mixture.
    if varying > 1 && different.len() <= SUGGESTED_VALUES_MAX && !has_folder {
        conditions.toml.push_str(&any_of(&different, names)?);
    } else {
        for name in names {
            let (test, permits) = test(name, &values_of(name), has_folder)?;
            conditions.toml.push_str(&format!("{} = {test}\n", key(name)?));
            conditions.permits.extend(permits);
        }
    }
    for name in absent {
        conditions.toml.push_str(&format!("{} = {{ absent = true }}\n", key(name)?));
    }
    Ok(conditions)
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

/// A test that these values pass, and what it permits beyond them.
fn test(name: &str, values: &[&Value], has_folder: bool) -> Result<(String, Option<String>), String> {
    let count = values.len();
    if let Some(folder) = folder_of_many(name, values) {
        let beyond = format!("every path below `{folder}` as `{name}`, not only the {count} that were given");
        return Ok((format!("{{ under = {} }}", quoted(&folder)), Some(beyond)));
    }
    if has_folder && count > 1 && CONTENTS.contains(&name) {
        return Ok(("{ present = true }".to_owned(), Some(format!("any value of `{name}`"))));
    }
    let written: Option<Vec<String>> = values.iter().map(|one| value(one)).collect();
    let test = match written.as_deref() {
        Some([one]) => format!("{{ equals = {one} }}"),
        Some(several @ [_, ..]) if count <= SUGGESTED_VALUES_MAX => format!("{{ one_of = [{}] }}", several.join(", ")),
        _ => return Err(cannot(name, count)),
    };
    let mixture = has_folder && count > 1;
    Ok((test, mixture.then(|| format!("each of the {count} values of `{name}` with every such path"))))
}

/// The common folder of these paths, when there are too many to list.
fn folder_of_many(name: &str, values: &[&Value]) -> Option<String> {
    let are_many_paths = values.len() > SUGGESTED_FOLDER_VALUES_MAX && !CONTENTS.contains(&name);
    if are_many_paths { common_folder(values) } else { None }
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
    let names = common.components().filter(|part| matches!(part, Component::Normal(_))).count();
    // A folder directly below the root is too broad.
    let is_narrow = if common.has_root() { names > 1 } else { names > 0 };
    is_narrow.then(|| common.to_str().map(ToOwned::to_owned)).flatten()
}
