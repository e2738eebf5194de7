//! The program through its front door: what is typed, what comes out of which stream, and how it ends. One file per command.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod room;

mod mcp_add;
mod mcp_add_refused;
mod mcp_enable;
mod mcp_export;
mod mcp_import;
mod mcp_import_beside;
mod mcp_list;
mod mcp_remove;
mod mcp_test;
mod memory;

mod tools;
mod tools_hanging;
mod tools_hostile;

mod hostile_results;
mod own_modes;

mod ask_model;
mod call;
mod call_endings;

mod prompts;
mod request_settings;
mod resources;
mod revisions;

mod bad_settings;
mod gemini_words;
mod generated;
mod include_directories;
mod policy;
mod policy_hostile;
mod policy_review;
mod settings_examples;
mod settings_files;
mod trust;
mod trust_hints;
mod untrusted;
mod usage;

mod killed;
mod stderr_secrets;

mod audit;
mod audit_alerts;
mod audit_permissions;
mod completions;
mod debug;
mod doctor;
mod extensions;
mod grants;
mod recording;
mod workspace_server;

mod runtime;
mod runtime_elsewhere;
mod runtime_life;
mod runtime_logins;
mod runtime_room;
mod runtime_session;
mod runtime_stopped;
mod runtime_terminal;
mod runtime_unheard;

mod emulated;
mod pseudo_terminal;
mod screen;
mod visitor;

mod lists;
mod logins;
mod logins_carried;
mod logins_terminal;

mod session_asking;
mod session_ends;
mod session_lines;
mod session_model;
mod session_questions;
mod session_starting;
mod session_terminal;

mod terminal;
mod terminal_confirm;
mod terminal_forms;
