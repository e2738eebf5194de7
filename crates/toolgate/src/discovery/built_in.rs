//! What a built-in server offers is known without a connection to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use toolgate_wire::view::{CacheHint, Entry as _, Tool};
use toolgate_wire::{Era, Version};
use toolgate_workspace::Introduction;

use crate::discovery::offered::{Offered, OfferedList};

/// The offer of the built-in server for these folders; nothing when the workspace cannot be opened, which a connection says in words.
pub(crate) fn offered_by_built_in(workspace: &Path, included: &[PathBuf], now: SystemTime) -> Option<Offered> {
    let Introduction { info, capabilities, instructions, tools } = Introduction::of(workspace, included).ok()?;
    let entries = tools.into_iter().map(|raw| Tool::read(raw).map(Arc::new)).collect::<Result<_, _>>().ok()?;
    Some(Offered {
        version: Version::LATEST,
        era: Era::Modern,
        info,
        capabilities,
        instructions: Some(instructions),
        said_at: now,
        tools: Some(OfferedList { entries, set_aside: Vec::new(), cache: CacheHint::default(), read_at: now }),
        prompts: None,
        resources: None,
        templates: None,
        unread: Vec::new(),
    })
}
