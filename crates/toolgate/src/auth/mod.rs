//! Stage 4 · login: from a server's challenge to a token, and from one token to the next.
//!
//! [`challenge`] (what the server said) → `discover` (who gives tokens for it, and how) → `register` (who we are to them) → `authorize`, `device`
//! or a grant without a person (a login) → `store` (kept, sealed) → `keeper` (used for every request, renewed before it ends).

pub mod account;
pub(crate) mod answer;
pub(crate) mod assertion;
pub(crate) mod authorization_url;
pub(crate) mod callback;
pub mod challenge;
pub(crate) mod checks;
pub(crate) mod client;
pub(crate) mod default_credentials;
pub(crate) mod device;
pub(crate) mod discover;
pub(crate) mod dpop;
mod due;
pub(crate) mod exchange;
pub(crate) mod explain;
pub(crate) mod fetch;
pub mod gemini_import;
pub(crate) mod google;
pub mod guide;
pub mod journal;
pub mod keeper;
pub(crate) mod kept_logins;
pub(crate) mod log_in;
pub mod login;
pub(crate) mod logins;
#[cfg(test)]
mod loopback;
pub(crate) mod machine;
pub(crate) mod metadata;
pub(crate) mod page;
mod passphrase;
pub(crate) mod place;
pub(crate) mod probe;
pub(crate) mod register;
pub mod renew;
pub(crate) mod renewer;
pub(crate) mod resource;
pub(crate) mod scopes;
#[cfg(test)]
mod scripted_exchange;
pub(crate) mod server_login;
pub(crate) mod shown;
pub(crate) mod signature;
pub mod store;
pub(crate) mod token_answer;
pub(crate) mod token_error;
pub(crate) mod token_request;

pub use log_in::LoginWish;
pub(crate) use server_login::ServerLogin;
