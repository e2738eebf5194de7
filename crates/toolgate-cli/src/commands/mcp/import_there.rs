//! Files of Gemini CLI beside its settings that hold something back: servers that are switched off, and its extensions.

use std::path::{Path, PathBuf};

use toolgate::formats::Format;
use toolgate::limits::EXTENSIONS_MAX;
use toolgate::servers::Enablement;
use toolgate::servers::enablement::ENABLEMENT_FILE;
use toolgate::settings::brought::{POLICIES_FOLDER, policy_files};
use toolgate::settings::edit::{Json, get};

use super::import_files::{Source, text_of};

/// The folder of extensions, and the file that describes one.
const EXTENSIONS_FOLDER: &str = "extensions";
const MANIFEST: &str = "gemini-extension.json";

/// Restrictions of extensions.
#[derive(Debug, Default)]
pub(crate) struct OfExtensions {
    /// `excludeTools` of all extensions; such an entry counts for every tool.
    pub(crate) excluded_tools: Vec<String>,
    /// Restrictions that are not imported, one message each.
    pub(crate) lost: Vec<String>,
    /// Extensions with servers, by name.
    pub(crate) with_servers: Vec<String>,
}

/// Marks the servers that are switched off beside the settings. The message says why that cannot be known.
pub(crate) fn switched_off(source: &mut Source) -> Option<String> {
    if source.imported.format != Format::GeminiCli {
        return None;
    }
    let file = source.path.with_file_name(ENABLEMENT_FILE);
    let text = match text_of(&file) {
        Ok(text) => text?,
        Err(_) => return Some(format!("{}, which cannot be read", file.display())),
    };
    let Ok(enablement) = Enablement::of(&text) else {
        return Some(format!("{}, which cannot be read", file.display()));
    };
    for server in &mut source.imported.servers {
        server.is_disabled |= enablement.is_disabled(&server.name.value);
    }
    None
}

impl OfExtensions {
    /// Looks at the extensions beside a settings file.
    pub(crate) fn beside(settings: &Path) -> Self {
        let mut found = Self::default();
        let Ok(entries) = settings.with_file_name(EXTENSIONS_FOLDER).read_dir() else { return found };
        let mut folders: Vec<PathBuf> = entries.flatten().take(EXTENSIONS_MAX).map(|entry| entry.path()).collect();
        folders.sort();
        folders.iter().for_each(|folder| found.add(folder));
        found
    }

    fn add(&mut self, folder: &Path) {
        let manifest = folder.join(MANIFEST);
        let text = match text_of(&manifest) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(_) => return self.lost.push(format!("{}, which cannot be read", manifest.display())),
        };
        match get(&text, &["excludeTools"]) {
            Ok(None) => {}
            Ok(Some(Json::List(entries))) if entries.iter().all(|entry| matches!(entry, Json::Text(_))) => {
                let texts =
                    entries.into_iter().filter_map(|one| if let Json::Text(one) = one { Some(one) } else { None });
                self.excluded_tools.extend(texts);
            }
            _ => self.lost.push(format!("{}: `excludeTools`, which cannot be read", manifest.display())),
        }
        if let Ok(Some(Json::Object(servers))) = get(&text, &["mcpServers"])
            && !servers.is_empty()
        {
            self.with_servers.push(folder.display().to_string());
        }
        let policies = policy_files(&folder.join(POLICIES_FOLDER));
        self.lost.extend(policies.iter().map(|policy| format!("{} of an extension", policy.display())));
    }
}
