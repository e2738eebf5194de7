//! Secrets after names that announce them, and in addresses and headers.

use super::{Form, Left};

/// Parts of names that announce a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passkey",
    "pswd",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "bearer",
    "-pw",
    "-pass",
];

/// These forms come first, because later ones skip masked values.
pub(super) const FORMS: &[Form] = &[
    // A text that is given to a program that wants one.
    Form {
        hints: &["<<<"],
        pattern: concat!(
            r"(?is)((?:login|secret|passw|passphrase|token|(?-u:\b)pass(?-u:\b)|(?-u:\b)pw(?-u:\b)|kinit|luks|auth)[^|;&\n]*?<<<\s*)(",
            word!(),
            ")"
        ),
        left: Left::Value,
    },
    // A private key or certificate, up to its end.
    Form {
        hints: &["-----begin "],
        pattern: r"(?is)-----BEGIN [0-9A-Z ]*(?:PRIVATE KEY|CERTIFICATE)[0-9A-Z ]*-----.*?(?:-----END [0-9A-Z ]*-----|\z)",
        left: Left::Text("[secret]"),
    },
    // Password in an address.
    Form { hints: &["://"], pattern: r"(://[^\s/:@]*:)[^\s/]+@", left: Left::Text("${1}[secret]@") },
    // Password in an address, when its extent is not certain.
    Form { hints: &["://"], pattern: r"(://)[^\s:]*:[^\s@\[][^\s@]*@", left: Left::Text("${1}[secret]@") },
    // A header, up to the end of its line or of the word it stands in.
    Form {
        hints: &["authorization", "cookie", "x-", "authentication"],
        pattern: r#"(?i)((?:proxy-)?authori[sz]ation|authentication|(?:set-)?cookie|x-[a-z-]*(?:key|token|secret|auth|signature|password|access))("?\s*[:=]\s*["']?)(?:(?:[^"'\r\n]*="[^"\r\n]*")+[^"'\r\n]*|[^"'\r\n]+)"#,
        left: Left::Text("${1}${2}[secret]"),
    },
    // A cookie, by what stands behind it.
    Form {
        hints: &["; path", "; httponly", "; secure", "; max-age", "; samesite", "; expires"],
        pattern: r"(?i)([a-z0-9_.-]+=)[^;\s]+(;\s*(?:path|httponly|secure|max-age|samesite|expires)(?-u:\b))",
        left: Left::Text("${1}[secret]${2}"),
    },
    // Value after a secret name, both in one pair of quotes.
    Form {
        hints: NAMES,
        pattern: r#"(?i)("[^"\s=:]*(?:password|passwd|passphrase|passcode|passkey|pswd|pwd|secret|token|(?:api|access|account|auth|client|deploy|encryption|host|license|master|private|secret|service|session|shared|signing|storage|subscription|webhook)[_-]?key|credentials?)[=:])[^"\\\s](?:[^"\\]|\\.)*""#,
        left: Left::Text("${1}[secret]\""),
    },
    Form {
        hints: NAMES,
        pattern: r"(?i)('[^'\s=:]*(?:password|passwd|passphrase|passcode|passkey|pswd|pwd|secret|token|(?:api|access|account|auth|client|deploy|encryption|host|license|master|private|secret|service|session|shared|signing|storage|subscription|webhook)[_-]?key|credentials?)[=:])[^'\s][^']*'",
        left: Left::Text("${1}[secret]'"),
    },
    // Value after a secret name: in a command line, an address, a file of variables.
    Form {
        hints: NAMES,
        pattern: concat!(
            r#"(?is)((?:password|passwd|passphrase|passcode|passkey|pswd|pwd|secret|token|(?:api|access|account|auth|client|deploy|encryption|host|license|master|private|secret|service|session|shared|signing|storage|subscription|webhook)[_-]?key|credentials?)(?:\\*["'])?\s*(?:\+=|\?=|::?=|=>|[:=])\s*)("#,
            word!(),
            ")"
        ),
        left: Left::Value,
    },
    // Option with a secret name, followed by its value.
    Form {
        hints: NAMES,
        pattern: concat!(
            r#"(?is)((?:\A|[\s"'])-[a-z0-9_-]*(?:password|passwd|passphrase|passcode|token|secret|bearer|-pw|-pass|-pwd|(?:api|access|account|auth|private|secret|storage)[_-]?key)["']?,?\s+)("#,
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    // Secret names that are too short to be matched inside words.
    Form {
        hints: &["pw", "pass"],
        pattern: concat!(
            r#"(?is)((?-u:\b)(?:[a-z0-9]+[_-])?(?:pw(?:\\*["'])?\s*(?:\+=|:=|[:=])|pass(?:\\*["'])?\s*=)\s*)("#,
            word!(),
            ")"
        ),
        left: Left::Value,
    },
    // Elements of XML, and lists of keys and values.
    Form {
        hints: &["</"],
        pattern: r"(?is)(<(?:[a-z0-9_-]+:)?[a-z0-9_.-]*(?:password|passwd|passphrase|passcode|pwd|secret|token|api[_-]?key|access[_-]?key|credential)(?:[_.-][a-z0-9_.-]*)?(?:\s[^<>]*)?>)\s*[^<\s][^<]*",
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["<key>"],
        pattern: r"(?is)(<key>[^<]*(?:password|passwd|secret|token|apikey|api key)[^<]*</key>\s*<string>)[^<]+",
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["value="],
        pattern: r#"(?is)((?:key|name)\s*=\s*["'][^"']*(?:password|passwd|pwd|secret|token|api[_-]?key)[^"']*["']\s+value\s*=\s*)("[^"]*"|'[^']*')"#,
        left: Left::Value,
    },
    // Password of a database user.
    Form {
        hints: &["identified", "password"],
        pattern: r#"(?is)((?:identified\s+(?:with\s+\S+\s+)?by|(?-u:\b)password)\s+)('[^']*'|"[^"]*")"#,
        left: Left::Value,
    },
    // Credential file.
    Form {
        hints: &["login", "machine"],
        pattern: r"(?is)((?:machine|login)\s+\S+\s+(?:(?:login|account)\s+\S+\s+)*password\s+)(\S+)",
        left: Left::Value,
    },
    // Signature of an address, or credentials in an address.
    Form {
        hints: &["sig", "credential=", "token=", "hmac=", "auth=", "awsaccesskeyid=", "sas="],
        pattern: r##"(?i)([?&](?:x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|signature|sig|hmac|sas|auth)=)[^&\s"'<>#]+"##,
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["key=", "code="],
        pattern: r#"(?i)([?&](?:key|code)=)[0-9a-z._~+/%-]{16,}"#,
        left: Left::Text("${1}[secret]"),
    },
    // The password of a user, set by a statement, and the key of a file that is a database.
    Form {
        hints: &["password for", "key"],
        pattern: r#"(?i)((?-u:\b)(?:set\s+password\s+for\s+\S+\s*=|pragma\s+key\s*=|attach\s+database\s+\S+(?:\s+as\s+\S+)?\s+key)\s*)("[^"]*"|'[^']*')"#,
        left: Left::Value,
    },
    // A line of a file of logins of databases.
    Form {
        hints: &[":5432:", ":5433:", ":6432:", ":*:"],
        pattern: r"(?m)((?:^|[\s=])[^\s:]+:(?:\*|5432|5433|6432):[^\s:]+:[^\s:]+:)(\S+)",
        left: Left::Value,
    },
    Form { hints: &["://"], pattern: r"(://)[0-9A-Za-z_-]{20,}@", left: Left::Text("${1}[secret]@") },
];
