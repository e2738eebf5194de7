//! The settings other than servers that a folder has a say in, and which of them deserve a second look.

use crate::limits::SURVEY_TEXT_CHARS_MAX;
use crate::settings::position::Position;
use crate::settings::raw::{RawList, RawMember, RawSettings, RawValue};
use crate::settings::source::SettingsLayer;
use crate::trust::survey::{SurveyWarning, SurveyedKey};

/// Tools named in a warning; the others are counted.
const NAMED_TOOLS: usize = 5;

/// A key that is written, and where.
type Written = (String, Position);

/// The keys that a layer writes, servers apart, in the order of the sections.
pub(crate) fn overridden(layer: &SettingsLayer) -> Vec<SurveyedKey> {
    let keys = written(&layer.settings);
    keys.into_iter().map(|(key, at)| SurveyedKey { key, origin: layer.origin(at.line) }).collect()
}

fn written(settings: &RawSettings) -> Vec<Written> {
    let RawSettings { mcp_servers: _, mcp, tools, security, advanced, others } = settings;
    let mut keys = Vec::new();
    let mut put = |key: &str, at: Option<Position>| keys.extend(at.map(|at| (key.to_owned(), at)));
    let list = |list: &Option<RawList>| list.as_ref().map(|list| list.at);
    put("mcp.allowed", list(&mcp.allowed));
    put("mcp.excluded", list(&mcp.excluded));
    put("mcp.connectLimit", mcp.connect_limit.as_ref().map(|limit| limit.at));
    put("tools.exclude", list(&tools.exclude));
    put("tools.naming", tools.naming.as_ref().map(|naming| naming.at));
    let threshold = tools.truncate_tool_output_threshold.as_ref();
    put("tools.truncateToolOutputThreshold", threshold.map(|threshold| threshold.at));
    put("security.folderTrust.enabled", security.folder_trust_enabled.as_ref().map(|enabled| enabled.at));
    put("security.folderTrust.userServers", security.folder_trust_user_servers.as_ref().map(|own| own.at));
    put("security.environmentVariableRedaction.allowed", list(&security.env_allowed));
    put("security.environmentVariableRedaction.blocked", list(&security.env_blocked));
    put("advanced.ignoreLocalEnv", advanced.ignore_local_env.as_ref().map(|ignores| ignores.at));
    put("advanced.excludedEnvVars", list(&advanced.excluded_env_vars));
    let sections = [
        ("mcp.", &mcp.others),
        ("tools.", &tools.others),
        ("security.", &security.others),
        ("advanced.", &advanced.others),
        ("", others),
    ];
    for (section, members) in sections {
        for member in members {
            put(&format!("{section}{}", member.key.value), Some(member.key.at));
        }
    }
    keys
}

/// What of it reaches further than a project should without somebody noticing.
pub(crate) fn warnings(layer: &SettingsLayer) -> Vec<SurveyWarning> {
    let settings = &layer.settings;
    let mut found = Vec::new();
    let mut warn = |at: Position, message: String| found.push(SurveyWarning { origin: layer.origin(at.line), message });
    if let Some(allowed) = member(&settings.tools.others, "allowed")
        && let Some(tools) = listed(&allowed.value.value)
    {
        warn(
            allowed.key.at,
            format!("`tools.allowed` wants tools to run without asking you, which a folder cannot have: {tools}"),
        );
    }
    if let Some(approves) = member(&settings.mcp.others, "allowedApproves")
        && !matches!(approves.value.value, RawValue::Bool(false))
    {
        warn(
            approves.key.at,
            "`mcp.allowedApproves` wants every tool of the allowed servers to run without asking you, which a folder cannot have".to_owned(),
        );
    }
    for (key, at) in written(settings).into_iter().filter(|(key, _)| key.starts_with("security.")) {
        warn(at, format!("`{key}` changes what protects you"));
    }
    if let Some(model) = member(&settings.others, "model")
        && let RawValue::Object(members) = &model.value.value
        && let Some(address) = member(members, "baseUrl")
    {
        warn(address.key.at, "`model.baseUrl` sends what you ask, and your key, to another address".to_owned());
    }
    found
}

fn member<'m>(members: &'m [RawMember], key: &str) -> Option<&'m RawMember> {
    members.iter().find(|member| member.key.value == key)
}

/// The first few of a list of names; `None` when there are none.
fn listed(value: &RawValue) -> Option<String> {
    let names: Vec<&str> = match value {
        RawValue::List(list) => list.iter().filter_map(|one| text(&one.value)).collect(),
        other => text(other).into_iter().collect(),
    };
    if names.is_empty() {
        return None;
    }
    let shown: String = names.iter().take(NAMED_TOOLS).copied().collect::<Vec<_>>().join(", ");
    let shown: String = shown.chars().take(SURVEY_TEXT_CHARS_MAX).collect();
    Some(match names.len().saturating_sub(NAMED_TOOLS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    })
}

fn text(value: &RawValue) -> Option<&str> {
    match value {
        RawValue::Text(text) => Some(text),
        RawValue::Null | RawValue::Bool(_) | RawValue::Number(_) | RawValue::List(_) | RawValue::Object(_) => None,
    }
}
