//! The words that some keys take. What a word means to the reader and what is documented come from one list.

use crate::settings::raw::{AuthProviderType, GrantKind, OnBusy, SearchMode, StartMode, ToolNaming, TransportType};

/// Words and what they mean.
pub(crate) type Words<T, const N: usize> = [(&'static str, T); N];

pub(crate) const TRANSPORT_TYPES: Words<TransportType, 3> =
    [("http", TransportType::Http), ("sse", TransportType::Sse), ("stdio", TransportType::Stdio)];

/// What other clients write for `http`.
pub(crate) const OTHER_WORDS_FOR_HTTP: [&str; 3] = ["streamable-http", "streamableHttp", "streamable_http"];

pub(crate) const ON_BUSY: Words<OnBusy, 2> = [("queue", OnBusy::Queue), ("reject", OnBusy::Reject)];

pub(crate) const START_MODES: Words<StartMode, 3> =
    [("auto", StartMode::Auto), ("eager", StartMode::Eager), ("lazy", StartMode::Lazy)];

pub(crate) const AUTH_PROVIDERS: Words<AuthProviderType, 3> = [
    ("dynamic_discovery", AuthProviderType::DynamicDiscovery),
    ("google_credentials", AuthProviderType::GoogleCredentials),
    ("service_account_impersonation", AuthProviderType::ServiceAccountImpersonation),
];

pub(crate) const GRANT_TYPES: Words<GrantKind, 5> = [
    ("authorization_code", GrantKind::AuthorizationCode),
    ("device_code", GrantKind::DeviceCode),
    ("client_credentials", GrantKind::ClientCredentials),
    ("workload_identity", GrantKind::WorkloadIdentity),
    ("enterprise", GrantKind::Enterprise),
];

pub(crate) const NAMINGS: Words<ToolNaming, 2> = [("short", ToolNaming::Short), ("qualified", ToolNaming::Qualified)];

/// The modes that a settings file may ask for. `yolo` is only for the command line.
pub(crate) const APPROVAL_MODES: [&str; 4] = ["default", "auto_edit", "autoEdit", "plan"];

pub(crate) const SEARCH_MODES: Words<SearchMode, 3> =
    [("auto", SearchMode::Auto), ("on", SearchMode::On), ("off", SearchMode::Off)];

pub(crate) const AUDITED_ARGUMENTS: [&str; 2] = ["redacted", "full"];

/// What logins are sealed with.
pub(crate) const TOKEN_STORES: [&str; 5] = ["auto", "keychain", "file", "passphrase", "plain"];

pub(crate) const FSYNC_MODES: [&str; 3] = ["interval", "always", "never"];

/// The words without their meaning.
pub(crate) const fn only_words<T: Copy, const N: usize>(words: &Words<T, N>) -> [&'static str; N] {
    let mut only = [""; N];
    let mut index = 0;
    while index < N {
        only[index] = words[index].0;
        index += 1;
    }
    only
}
