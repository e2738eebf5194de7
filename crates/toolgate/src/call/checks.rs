//! `Checks`: what is worked out once for a tool and used by every call of it: the hash of its definition and its schemas, compiled.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;
use toolgate_wire::view::Tool;

use super::schema::CompiledSchema;
use crate::limits::{CHECKED_PARTS_MAX, TOOLS_CHECKED_MAX};
use crate::registry::definition_hash;

/// What is worked out once for a tool.
pub(super) struct Checks {
    tool: Arc<Tool>,
    /// The hash of its definition.
    pub(super) definition: String,
    /// What its server says about its effects.
    pub(super) annotations: Value,
    input: OnceLock<Option<CompiledSchema>>,
    output: OnceLock<Option<CompiledSchema>>,
}

impl Checks {
    fn of(tool: &Arc<Tool>) -> Self {
        let annotations =
            tool.annotations.as_ref().and_then(|raw| raw.value_within(CHECKED_PARTS_MAX).ok()).unwrap_or_default();
        let (input, output) = (OnceLock::new(), OnceLock::new());
        Self { definition: definition_hash(tool), annotations, tool: tool.clone(), input, output }
    }

    /// What the tool takes; nothing when its server does not say.
    pub(super) fn input(&self) -> Option<&CompiledSchema> {
        self.input.get_or_init(|| self.tool.input_schema.as_ref().map(CompiledSchema::compile)).as_ref()
    }

    /// What the tool promises to give.
    pub(super) fn output(&self) -> Option<&CompiledSchema> {
        self.output.get_or_init(|| self.tool.output_schema.as_ref().map(CompiledSchema::compile)).as_ref()
    }
}

/// The checks of the tools that were called last. A tool that its server describes anew is another one.
#[derive(Default)]
pub(super) struct ToolChecks {
    known: Mutex<HashMap<usize, Arc<Checks>>>,
}

impl ToolChecks {
    pub(super) fn of(&self, tool: &Arc<Tool>) -> Arc<Checks> {
        // While its checks are known a tool is kept, so that no other one can stand at its place in memory.
        let place = Arc::as_ptr(tool).addr();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(checks) = known().get(&place) {
            return checks.clone();
        }
        let checks = Arc::new(Checks::of(tool));
        let mut known = known();
        if known.len() >= TOOLS_CHECKED_MAX {
            known.clear();
        }
        known.insert(place, checks.clone());
        checks
    }
}

impl fmt::Debug for ToolChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolChecks").finish_non_exhaustive()
    }
}
