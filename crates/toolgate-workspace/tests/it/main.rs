//! The built-in server seen from outside: a client on the wire, a folder with something in it, and a secret beside it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so where it stands")]

mod room;

mod offers;

mod reading;

mod finding;

mod searching;

mod writing;

mod shell;

mod shell_ends;

mod escapes;

mod escape_races;

mod included;
