//! Stage 5: from a server's settings to an open wire.

mod child_env;

mod open;

pub(crate) use open::Opener;
