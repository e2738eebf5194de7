//! Secrets on command lines of programs that take them in special ways.

use super::{Form, Left};

/// The forms of programs.
pub(super) const FORMS: &[Form] = &[
    // Single-letter options with a password.
    Form {
        hints: &["curl", "wget"],
        pattern: concat!(r"(?s)(\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)(?:\s+|=|))(", word!(pair), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["mysql", "mariadb"],
        pattern: concat!(r"(?s)((?:mysql|mariadb)[^|;&\n]*?\s-[a-zA-OQ-Z]*?p)(", word!(), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["sshpass", "mongo"],
        pattern: concat!(r"(?s)((?:sshpass|mongo)[^|;&\n]*?\s-p\s*)(", word!(no option), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["login"],
        pattern: concat!(r"(?s)((?-u:\b)login(?-u:\b)[^|;&\n]*?\s-p(?:\s+|=|))(", word!(no option), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["redis-cli", "ldap", "zip", "7z"],
        pattern: concat!(
            r"(?s)((?:redis-cli[^|;&\n]*?\s-a\s+|ldap[a-z]+(?-u:\b)[^|;&\n]*?\s-w\s*|zip[^|;&\n]*?\s-P\s*|7z[^|;&\n]*?\s-p))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form { hints: &["pass:"], pattern: concat!(r"(?s)((?-u:\b)pass:)(", word!(), ")"), left: Left::Value },
    Form {
        hints: &["curl", "wget"],
        pattern: r#"(?s)(\s(?:-[a-zA-Z]*b|--cookie)(?:\s+|=|))("[^"=]+=[^"]*"|'[^'=]+=[^']*'|[^\s"'=-][^\s"'=]*=\S+)"#,
        left: Left::Value,
    },
    // Settings of programs, by name and value.
    Form {
        hints: &["set", "config", "add"],
        pattern: concat!(
            r#"(?is)((?-u:\b)(?:npm|pnpm|yarn|aws|gcloud|pulumi|poetry|pip3?|git|conda|composer|fly|flyctl|vercel|netlify|wrangler|az|bundle|mc|heroku|firebase|snyk|doctl)(?-u:\b)[^|;&\n]*?(?-u:\b)(?:set|config|configure|login)(?-u:\b)[^|;&\n]*?\s[^\s'"]*(?:_auth|token|password|passwd|secret|(?:access|api|account|secret)[_-]?key)(?:[_.:-][^\s'"=]*)?(?:\s+|=))("#,
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["secret", "literal"],
        pattern: concat!(
            r"(?s)((?:(?-u:\b)secret\s+set\s[^|;&\n]*?(?:--body|-b)(?:\s+|=)|--from-literal[= ][^=\s]+=))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    // Password piped into a program.
    Form {
        hints: &["--password-stdin", "sudo"],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:echo|printf)\s+(?:-n\s+)?)",
            word!(no option),
            r"(\s*\|[^|;&\n]*(?:--password-stdin|sudo\s+-[a-zA-Z]*S))"
        ),
        left: Left::Text("${1}[secret]${2}"),
    },
    Form {
        hints: &["securestring", "net user", "psexec", "plink", "pscp"],
        pattern: concat!(
            r"(?is)((?:convertto-securestring\s+(?:-string\s+)?|(?-u:\b)net1?\s+user\s+\S+\s+|psexec[^|;&\n]*?\s-p\s+|(?:plink|pscp)[^|;&\n]*?\s-pw\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["sqlcmd", "bcp", "mosquitto", "openssl", "htpasswd", "vault login"],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:(?:sqlcmd|bcp|mosquitto_(?:pub|sub|rr))[^|;&\n]*?\s-P\s*|openssl[^|;&\n]*?\s-[kK]\s+|htpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+|vault\s+login\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["smbclient", "rpcclient", "lftp", "sqlplus", "net ads"],
        pattern: r"(?s)((?-u:\b)(?:(?:smbclient|rpcclient|net ads)[^|;&\n]*?(?:-U|--user=?)\s*[^\s%]+%|lftp[^|;&\n]*?\s-u\s+[^\s,]+,|sqlplus\s+(?:-\S+\s+)*[^\s/]+/))[^\s@]+",
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["http ", "https ", "xh "],
        pattern: concat!(r"(?s)((?-u:\b)(?:https?|xh)\s[^|;&\n]*?(?:-a|--auth)(?:\s+|=))(", word!(pair), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["mc "],
        pattern: r"(?s)((?-u:\b)mc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+)\S+\s+\S+",
        left: Left::Text("${1}[secret]"),
    },
];
