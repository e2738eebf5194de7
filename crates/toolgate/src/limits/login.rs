//! Every bound of logins.

/// Steps of one login that are written down.
pub const LOGIN_STEPS_MAX: usize = 200;

/// What comes back from an authorization page, as a query.
pub const LOGIN_ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Words of an authorization server that are repeated to the person.
pub const LOGIN_WORDS_CHARS_MAX: usize = 200;

/// How long a person may take to log in.
pub const LOGIN_WAIT_MS: u64 = 5 * 60 * 1000;

/// Logins that one request may lead to: the first, and one for more scopes.
pub const LOGINS_FOR_REQUEST_MAX: usize = 2;

/// Browsers that a login listens to at once.
pub const CALLBACK_BROWSERS_MAX: usize = 8;

/// The head of a browser's request.
pub const CALLBACK_HEADER_BYTES_MAX: usize = 32 * 1024;

/// How long a browser may take to send it.
pub const CALLBACK_HEADER_MS: u64 = 10_000;

/// How long a browser is kept waiting for the end of the login that it came back for.
pub const CALLBACK_PAGE_MS: u64 = 60_000;

/// How long we wait until a browser has received its page.
pub const CALLBACK_FLUSH_MS: u64 = 1_000;

/// Challenges in the headers of one answer; servers send one or two.
pub const CHALLENGES_MAX: usize = 32;

/// Parameters of one challenge; all that are defined together are ten.
pub const CHALLENGE_PARAMETERS_MAX: usize = 32;

/// One parameter of a challenge; the longest is an address.
pub const CHALLENGE_TEXT_CHARS_MAX: usize = 4_096;

/// Scopes that are asked for at once; all of them stand in one address.
pub const LOGIN_SCOPES_MAX: usize = 256;

/// What a server publishes about logins; real documents have a twentieth of it.
pub const METADATA_BYTES_MAX: usize = 256 * 1024;

/// Elements of one list in such a document.
pub const METADATA_LIST_MAX: usize = 1_000;

/// One text in such a document; the longest are addresses.
pub const METADATA_TEXT_CHARS_MAX: usize = 4_096;

/// The answer of a token or registration endpoint; tokens that carry everything about a person have a tenth of it.
pub const TOKEN_ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// How long one answer that belongs to a login may take, from the first byte to the last: whoever drips is slow as well.
pub const LOGIN_ANSWER_MS: u64 = 10_000;

/// Redirects that are followed to one document.
pub const LOGIN_REDIRECTS_MAX: usize = 3;

/// How much text of somebody else is repeated in the journal of a login or in an error.
pub const LOGIN_EXCERPT_CHARS_MAX: usize = 200;

/// Authorization servers of one server that are tried one after the other.
pub const LOGIN_ISSUERS_MAX: usize = 4;

/// How long it may take to find out who gives tokens, all documents together.
pub const LOGIN_DISCOVERY_MS: u64 = 30_000;

/// One token: it has to fit into a header, and few servers take headers of half this size.
pub const TOKEN_BYTES_MAX: usize = 64 * 1024;

/// How long a token is believed to be good for: ten years. What is said to last longer is looked at again then.
pub const TOKEN_LIFETIME_MS_MAX: u64 = 10 * 365 * 24 * 3_600 * 1_000;

/// How much an authorization server may say about why it refuses; it is one sentence.
pub const TOKEN_ERROR_CHARS_MAX: usize = 300;

/// The name that an authorization server gives us. Some are addresses.
pub const CLIENT_ID_BYTES_MAX: usize = 4_096;

/// How long a statement of who we are is good for: clocks differ by minutes, and it is sent at once.
pub const CLIENT_ASSERTION_MS: u64 = 300_000;

/// Origins whose nonces for proofs are kept; the one that was silent longest makes room.
pub const DPOP_NONCES_MAX: usize = 256;

/// One such nonce. It is repeated in every proof.
pub const DPOP_NONCE_BYTES_MAX: usize = 1_024;

/// What a person types in on another device; nobody types more.
pub const DEVICE_USER_CODE_CHARS_MAX: usize = 100;

/// How long to wait between two questions whether the person has answered on the other device, when nothing is said (RFC 8628 §3.2).
pub const DEVICE_INTERVAL_MS_DEFAULT: u64 = 5_000;

/// How much longer to wait each time the authorization server says that it was asked too often (RFC 8628 §3.5).
pub const DEVICE_SLOWER_MS: u64 = 5_000;

/// The longest wait between two such questions; a person who has answered waits no longer than this.
pub const DEVICE_INTERVAL_MS_MAX: u64 = 60_000;

/// How long a person has to answer on the other device at most; the page is forgotten by then.
pub const DEVICE_LIFETIME_MS_MAX: u64 = 3_600_000;

/// The file of kept logins: room for hundreds of them, with long tokens.
pub const LOGINS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The file of the key that kept logins are sealed with; wrapped by a passphrase it has a few hundred bytes.
pub const LOGINS_KEY_FILE_BYTES_MAX: usize = 16 * 1024;

/// How long kept logins may take to be read or written: the keychain is asked for their key, and other processes write as well.
pub const LOGINS_FILE_MS: u64 = 150_000;

/// How much work a passphrase may cost, as the power of two that scrypt takes: a gibibyte of memory and a few seconds.
pub const PASSPHRASE_WORK_LOG2_MAX: u8 = 20;

/// A bundle of exported logins.
pub const LOGIN_BUNDLE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Logins in one bundle, and registered clients in it.
pub const LOGIN_BUNDLE_MAX: usize = 1_000;

/// The file in which another client keeps its logins.
pub const FOREIGN_LOGINS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Logins that are taken over from another client at once.
pub const FOREIGN_LOGINS_MAX: usize = 1_000;

/// How long before its end a login is renewed, so that it does not end on its way to the server. One that lives shorter is renewed in the
/// last tenth of its life.
pub const REFRESH_AHEAD_MS: u64 = 300_000;

/// How long after a renewal that did not work the next one is tried, while the login is still good.
pub const REFRESH_RETRY_MS: u64 = 30_000;

/// How long one renewal may take; whoever renews keeps all other processes from it.
pub const REFRESH_MS: u64 = 60_000;

/// How long to wait for another process that renews the same login: longer than one renewal takes, and what it writes down.
pub const REFRESH_LOCK_MS: u64 = 120_000;

/// A file with credentials of Google.
pub const GOOGLE_CREDENTIALS_BYTES_MAX: usize = 256 * 1024;
