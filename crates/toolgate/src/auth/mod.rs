//! Stage 4 · login: from a server's challenge to a token, and from one token to the next.
//!
//! [`challenge`] (what the server said) → `discover` (who gives tokens for it, and how) → `register` (who we are to them) → `authorize`, `device`
//! or a grant without a person (a login) → `store` (kept, sealed) → `keeper` (used for every request, renewed before it ends).

pub mod account;
pub(crate) mod answer;
pub(crate) mod callback;
pub mod guide;
pub mod journal;
pub(crate) mod login;
pub(crate) mod page;
pub mod challenge;
pub(crate) mod checks;
pub(crate) mod discover;
pub(crate) mod fetch;
pub mod journal;
pub(crate) mod login;
pub(crate) mod metadata;
pub(crate) mod place;
pub(crate) mod renew;
pub(crate) mod resource;
pub(crate) mod scopes;
pub(crate) mod shown;
