//! The client's ways through the network: TLS with certificates of one's own, HTTP/2, proxies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is a failed test")]

mod listening;

mod proxy;

mod public_only;

mod reaching;
