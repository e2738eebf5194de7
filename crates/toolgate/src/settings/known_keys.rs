//! What to do about a key that is not documented: the nearest one that is, or what other clients mean by it.

use crate::settings::keys::{Key, SERVER};

/// What other clients call things, and what to do about it here.
const FOREIGN_SERVER_KEYS: &[(&str, &str)] = &[
    ("serverUrl", "write `url`"),
    ("endpoint", "write `url`"),
    ("environment", "write `env`"),
    ("environmentVariables", "write `env`"),
    ("envs", "write `env`"),
    ("envFile", "write the variables into `env`"),
    ("arguments", "write `args`"),
    ("workingDirectory", "write `cwd`"),
    ("workdir", "write `cwd`"),
    ("transport", "write `type`, with \"http\", \"sse\" or \"stdio\""),
    ("transportType", "write `type`, with \"http\", \"sse\" or \"stdio\""),
    ("http_headers", "write `headers`"),
    ("requestInit", "write its `headers` as `headers` of the server"),
    ("disabled", "it has no effect; name the server in `mcp.excluded`"),
    ("enabled", "it has no effect; name the server in `mcp.excluded` to switch it off"),
    ("alwaysAllow", "it has no effect; `\"trust\": true` lets all tools of a server run unasked"),
    ("autoApprove", "it has no effect; `\"trust\": true` lets all tools of a server run unasked"),
    ("disabledTools", "write `excludeTools`"),
    ("enabledTools", "write `includeTools`"),
    ("tools", "write `includeTools`"),
    ("allowedTools", "write `includeTools`"),
    ("startup_timeout_sec", "write `connectTimeout`, in milliseconds"),
    ("tool_timeout_sec", "write `timeout`, in milliseconds"),
];

/// Keys of old versions of Gemini CLI that restrict or permit, and the keys that have their meaning now.
const OUTDATED_KEYS: &[(&str, &str)] = &[
    ("allowMCPServers", "mcp.allowed"),
    ("allowedTools", "tools.allowed"),
    ("coreTools", "tools.core"),
    ("excludeMCPServers", "mcp.excluded"),
    ("excludeTools", "tools.exclude"),
    ("mcpServerCommand", "mcp.serverCommand"),
];

/// What other clients call `mcpServers`.
pub(crate) const FOREIGN_SERVER_LISTS: &[&str] =
    &["servers", "mcp_servers", "context_servers", "mcpservers", "mcp-servers"];

/// Keys of Gemini CLI that toolgate ignores: top-level keys, and keys of sections that both have.
const KEYS_OF_GEMINI_CLI: &[&str] = &[
    "accessibility",
    "agents",
    "billing",
    "contextManagement",
    "hooksConfig",
    "ide",
    "modelConfigs",
    "output",
    "privacy",
    "skills",
    "telemetry",
    "ui",
    "useWriteTodos",
    "mcp.enablement",
    "model.compressionThreshold",
    "model.disableLoopDetection",
    "model.maxSessionTurns",
    "model.skipNextSpeakerCheck",
    "model.summarizeToolOutput",
    "security.allowedExtensions",
    "security.auth",
    "security.autoAddToPolicyByDefault",
    "security.blockGitExtensions",
    "security.enableConseca",
    "security.enablePermanentToolApproval",
    "security.toolSandboxing",
    "tools.autoAccept",
    "tools.disableLLMCorrection",
    "tools.enableHooks",
    "tools.enableToolOutputTruncation",
    "tools.enforceConfirmation",
    "tools.sandbox",
    "tools.sandboxAllowedPaths",
    "tools.sandboxNetworkAccess",
    "tools.shell",
    "tools.truncateToolOutputLines",
    "tools.usePty",
    "tools.useRipgrep",
];

/// Whether another program reads the key.
pub(crate) fn is_of_another_program(key: &str) -> bool {
    KEYS_OF_GEMINI_CLI.contains(&key)
}

/// The advice about an unknown key at the top of a file.
pub(crate) fn hint_for_top_key(key: &str, known: &[Key]) -> String {
    match OUTDATED_KEYS.iter().find(|(name, _)| *name == key) {
        Some((_, now)) => format!("it has no effect; write `{now}`"),
        None => hint_for(key, known),
    }
}

/// What to do about a key that a server does not have.
pub(crate) fn hint_for_server_key(key: &str) -> String {
    let foreign = FOREIGN_SERVER_KEYS.iter().find(|(name, _)| *name == key);
    foreign.map_or_else(|| hint_for(key, SERVER), |(_, hint)| (*hint).to_owned())
}

/// What to do about an unknown key: the nearest known one, or all of them when they are few, or nothing but a way out.
pub(crate) fn hint_for(key: &str, known: &[Key]) -> String {
    const FEW: usize = 6;
    if let Some(nearest) = nearest(key, known) {
        return format!("did you mean `{nearest}`?");
    }
    if known.len() <= FEW {
        let names: Vec<String> = known.iter().map(|known| format!("`{}`", known.name)).collect();
        return format!("the keys here are {}", names.join(", "));
    }
    "remove it; it has no effect".to_owned()
}

/// The known key that a mistyped one was probably meant to be.
pub(crate) fn nearest(key: &str, known: &[Key]) -> Option<&'static str> {
    let folded = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let key = folded(key);
    let longest = known.iter().map(|known| known.name.len()).max().unwrap_or(0);
    // Far longer than any known key: no typo, and not worth comparing.
    if key.is_empty() || key.len() > 2 * longest {
        return None;
    }
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(&key, &folded(known.name)), known.name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    let allowed = (key.chars().count() / 3).max(1);
    (distance <= allowed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{hint_for, hint_for_server_key, nearest};
    use crate::settings::keys::{FOLDER_TRUST, MCP, SERVER, TOP};

    #[test]
    fn typos_find_the_key_that_was_meant() {
        let cases = [
            ("comand", SERVER, Some("command")),
            ("Command", SERVER, Some("command")),
            ("http_url", SERVER, Some("httpUrl")),
            ("header", SERVER, Some("headers")),
            ("exclude_tools", SERVER, Some("excludeTools")),
            ("max-concurrency", SERVER, Some("maxConcurrency")),
            ("mcpServer", TOP, Some("mcpServers")),
            ("MCPSERVERS", TOP, Some("mcpServers")),
            ("conectLimit", MCP, Some("connectLimit")),
            ("banana", SERVER, None),
            ("ui", TOP, None),
            ("", SERVER, None),
            ("x", SERVER, None),
        ];
        for (key, known, expected) in cases {
            assert_eq!(nearest(key, known), expected, "{key}");
        }
        assert_eq!(nearest(&"command".repeat(10_000), SERVER), None);
    }

    #[test]
    fn every_unknown_key_gets_a_way_out() {
        assert_eq!(hint_for_server_key("comand"), "did you mean `command`?");
        assert_eq!(hint_for_server_key("serverUrl"), "write `url`");
        assert_eq!(hint_for_server_key("banana"), "remove it; it has no effect");
        assert_eq!(hint_for("x", FOLDER_TRUST), "the keys here are `enabled`, `userServers`");
    }
}
