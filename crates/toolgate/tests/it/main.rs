//! The library as one flow, in a sealed room: real processes, real HTTP, scripted servers.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod asking;
mod audit;
mod audit_changed;
mod audit_processes;
mod audit_turns;
mod calls;
mod catalog;
mod changes;
mod chaos;
mod chaos_room;
mod connecting;
mod formats;
mod formats_hostile;
mod formats_written;
mod grants;
mod header_helper;
mod layers;
mod lifecycle_cancelled;
mod lifecycle_concurrency;
mod lifecycle_facade;
mod lifecycle_lost_calls;
mod lifecycle_memory;
mod lifecycle_news;
mod lifecycle_old_memory;
mod lifecycle_room;
mod lifecycle_start;
mod lifecycle_supervisor;
mod lifecycle_tasks;
mod login_room;
mod logins;
mod logins_hostile_answers;
mod logins_hostile_metadata;
mod logins_hostile_tokens;
mod logins_refused;
mod logins_renewed;
mod logins_secrets;
mod logins_slow;
mod policy_docs;
mod recording;
mod reload;
mod secrets;
mod support;
mod trust;
