//! Where each client keeps its configuration files, on every system it runs on.

use std::path::PathBuf;

use crate::env::HostEnv;
use crate::formats::client::Format;

/// The files to look at, whether they are there or not: those of the workspace folder first.
#[must_use]
pub fn places(format: Format, env: &HostEnv) -> Vec<PathBuf> {
    let here = |path: &str| vec![env.workspace.join(path)];
    let home = |path: &str| env.dirs.home.iter().map(|home| home.join(path)).collect::<Vec<_>>();
    let found = match format {
        Format::GeminiCli => [here(".gemini/settings.json"), home(".gemini/settings.json")].concat(),
        Format::ClaudeDesktop => {
            of_applications(env, "Claude/claude_desktop_config.json", "Claude/claude_desktop_config.json")
        }
        Format::ClaudeCode => {
            let moved = variable(env, "CLAUDE_CONFIG_DIR").map(|folder| folder.join(".claude.json"));
            [here(".mcp.json"), moved.into_iter().collect(), home(".claude.json")].concat()
        }
        Format::VsCode => {
            let mut all = here(".vscode/mcp.json");
            for file in ["Code/User/mcp.json", "Code/User/settings.json", "Code - Insiders/User/mcp.json"] {
                all.extend(of_applications(env, file, file));
            }
            all
        }
        Format::Cursor => [here(".cursor/mcp.json"), home(".cursor/mcp.json")].concat(),
        Format::Codex => {
            let moved = variable(env, "CODEX_HOME").map(|folder| folder.join("config.toml"));
            [here(".codex/config.toml"), moved.into_iter().collect(), home(".codex/config.toml")].concat()
        }
        Format::Goose => of_applications(env, "goose/config.yaml", "Block/goose/config/config.yaml"),
        Format::Zed => {
            [here(".zed/settings.json"), of_applications(env, "zed/settings.json", "Zed/settings.json")].concat()
        }
        Format::Toolgate => Vec::new(),
    };
    let mut once = Vec::with_capacity(found.len());
    for place in found {
        if !once.contains(&place) {
            once.push(place);
        }
    }
    once
}

/// Below the folders that systems give applications for their settings. On Windows some of them use another name.
fn of_applications(env: &HostEnv, path: &str, on_windows: &str) -> Vec<PathBuf> {
    let home = env.dirs.home.as_ref();
    let xdg = variable(env, "XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let folders = [
        xdg.or_else(|| home.map(|home| home.join(".config"))).map(|folder| folder.join(path)),
        home.map(|home| home.join("Library/Application Support").join(path)),
        variable(env, "APPDATA").map(|folder| folder.join(on_windows)),
    ];
    folders.into_iter().flatten().collect()
}

fn variable(env: &HostEnv, name: &str) -> Option<PathBuf> {
    env.vars.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
