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
    // Programs whose password follows a letter.
    Form {
        hints: &["-p"],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:mycli|twine|poetry|security\s+unlock-keychain|ncftp[a-z]*|evil-winrm|impala-shell|impala|beeline|cqlsh|usermod|useradd|altool|sshpass|rdesktop|ftp)(?-u:\b)[^|;&\n]*?\s-p\s+)(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["rdesktop", "unrar", "rar "],
        pattern: concat!(r"(?s)((?-u:\b)(?:rdesktop|un?rar|rar)(?-u:\b)[^|;&\n]*?\s-h?p)(", word!(no option), ")"),
        left: Left::Value,
    },
    Form {
        hints: &[
            "ipmitool",
            "p4 ",
            "security ",
            "snmp",
            "ldappasswd",
            "doctl",
            "vercel",
            "influx",
            "gem push",
            "nuget",
        ],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:(?:ipmitool|p4|security\s+import)(?-u:\b)[^|;&\n]*?\s-P\s+|security\s+add-[^|;&\n]*?\s-w\s+|snmp[a-z]+(?-u:\b)[^|;&\n]*?\s-[cAX]\s+|ldappasswd[^|;&\n]*?\s-[as]\s+|(?:doctl|vercel|influx)(?-u:\b)[^|;&\n]*?\s-t\s+|(?:gem|nuget)\s+push[^|;&\n]*?\s-k\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    // Programs of other systems, with a slash before the letter.
    Form {
        hints: &["/p", "/rp", "net use", "runas"],
        pattern: concat!(
            r"(?is)((?-u:\b)(?:(?:xfreerdp|wfreerdp)[^|;&\n]*?\s/p:|signtool[^|;&\n]*?\s/p\s+|schtasks[^|;&\n]*?\s/rp\s+|net1?\s+use\s+(?:\S+\s+)*?/user:\S+\s+|runas[^|;&\n]*?/user:\S+\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["net use"],
        pattern: r"(?i)((?-u:\b)net1?\s+use\s+\S+\s+\\\\\S+\s+)[^\s/]\S*(\s+/user:)",
        left: Left::Text("${1}[secret]${2}"),
    },
    // Programs whose operand it is.
    Form {
        hints: &[
            "login",
            "unlock",
            "unseal",
            "htpasswd",
            "openssl passwd",
            "wpa_passphrase",
            "setapikey",
            "auth:token",
            "auth ",
            "http-basic",
            "github-oauth",
            "isql",
            "signin",
            "webdav",
        ],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:cargo\s+login\s+|bw\s+(?:unlock\s+|login\s+\S+@\S+\s+(?:--passwordenv\s+\S+\s+)?)|vault\s+(?:operator\s+)?unseal\s+|htpasswd\s+-[a-zA-Z]*n[a-zA-Z]*b?\s+\S+\s+|openssl\s+passwd\s+(?:-\S+\s+)+|wpa_passphrase\s+\S+\s+|nuget\s+setapikey\s+|heroku\s+auth:token\s+|redis-cli\s+(?:-\S+\s+)*(?i:auth)\s+|AUTH\s+(?:default\s+)|isql\s+\S+\s+\S+\s+|op\s+signin\s+(?:--raw\s+)?|(?:composer|poetry)\s+config\s+(?:-\S+\s+)*(?:http-basic\S+\s+\S+\s+|github-oauth\S+\s+)|rclone\s+config\s+create[^|;&\n]*?\spass\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    // Stores of secrets: what is put into them, whatever it is called.
    Form {
        hints: &["secret", "vault kv", "vault write", "pulumi", "config:set"],
        pattern: concat!(
            r"(?s)((?-u:\b)(?:(?:fly|flyctl)\s+secrets\s+(?:set|import)\s+(?:-\S+\s+)*[^\s=]+=|vault\s+(?:kv\s+(?:put|patch)|write)\s+(?:-\S+\s+)*\S+\s+(?:[^\s=]+=)|gh\s+secret\s+set\s[^|;&\n]*?-b|user-secrets\s+set\s+\S+\s+|pulumi\s+config\s+set\s+--secret\s+\S+\s+|pulumi\s+config\s+set\s+))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form {
        hints: &["pulumi"],
        pattern: r"((?-u:\b)pulumi\s+config\s+set\s+\S+\s+)\S+(\s+--secret)",
        left: Left::Text("${1}[secret]${2}"),
    },
    Form {
        hints: &["chpasswd", "passwd --stdin"],
        pattern: r#"(?s)((?-u:\b)(?:echo|printf)\s[^|\n]*?)[^\s|"']+(["']?\s*\|[^|;&\n]*(?:chpasswd|passwd\s+--stdin))"#,
        left: Left::Text("${1}[secret]${2}"),
    },
    // A name with a password behind it, as the value of an option that wants both.
    Form {
        hints: &["creds", "-x ", "--proxy", "http-auth", "npmauthident", ":pserver:"],
        pattern: r"(?is)((?:\s(?:--[a-z]+-creds|--creds|-x|--proxy|-http-auth)(?:\s+|=)|npmauthident\s+|:pserver:)[^\s:/@]+:)(?:[^\s@\[/][^\s@]*)",
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["--cert", "-e "],
        pattern: r"((?-u:\b)curl[^|;&\n]*?\s(?:--cert|-E)(?:\s+|=)[^\s:]+:)[^\s:]+",
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["thin:", "sonar.login"],
        pattern: r"(?i)((?:thin:[^\s/@]+/|sonar\.login=))[^\s@]+",
        left: Left::Text("${1}[secret]"),
    },
];
