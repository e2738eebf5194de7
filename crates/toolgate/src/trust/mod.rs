//! Stage 3: what this folder may start. [`judge`] decides about the folder, [`admit`] lets servers through; [`survey()`] shows the person what
//! they decide about.
//!
//! Reading order: `rules` are the decisions about folders, `entries` what their servers were then, `folder` puts both together.

mod rules;

mod canonical;
mod entries;

mod folder;

mod overridden;
mod references;
mod survey;

mod gate;

pub use entries::{ENV_FILE_ENTRY, EntryChange, POLICIES_ENTRY, confirm, confirm_all, fingerprint, forget};
pub use folder::{
    DecidedBy, EDITOR_VARIABLE, Folder, FolderStanding, FolderTrust, THIS_RUN_VARIABLE, files, judge, trusts_env_file,
};
pub use gate::{AdmittedServers, admit};
pub use rules::{Rule, Rules, TrustLevel, remove_rule, set_rule};
pub use survey::{
    ReplacedServer, Survey, SurveyWarning, SurveyedEnvFile, SurveyedExtension, SurveyedKey, SurveyedServer, survey,
};
