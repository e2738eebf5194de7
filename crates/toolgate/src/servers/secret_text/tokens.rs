//! Secrets that their form identifies: tokens, keys, password hashes, secret addresses.

use super::{Form, Left, is_login};

/// The forms of tokens.
pub(super) const FORMS: &[Form] = &[
    // Credentials of a client.
    Form {
        hints: &["bearer"],
        pattern: r"(?i)((?-u:\b)bearer\s+)[0-9A-Za-z._~+/=-]{12,}",
        left: Left::Text("${1}[secret]"),
    },
    // Credentials with a name and a password. An ordinary word after `basic` is not masked.
    Form {
        hints: &["basic"],
        pattern: r"(?i)((?-u:\b)basic\s+)([0-9A-Za-z+/_-]{6,}={0,2})",
        left: Left::Checked(is_login),
    },
    // A JSON web token.
    Form {
        hints: &["eyj"],
        pattern: r"(?-u:\b)eyJ[0-9A-Za-z_-]*\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*",
        left: Left::Text("[secret]"),
    },
    // Tokens with a known prefix.
    Form {
        hints: &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "sk-",
            "sk_",
            "rk_",
            "xox",
            "xapp-",
            "akia",
            "asia",
            "aiza",
            "ya29.",
            "npm_",
            "hf_",
            "pypi-",
            "dop_v1_",
            "sg.",
        ],
        pattern: r"(?-u:\b)(?:gh[pousr]_[0-9A-Za-z_]{16,}|github_pat_[0-9A-Za-z_]{16,}|glpat-[0-9A-Za-z_-]{16,}|sk-[0-9A-Za-z_-]{16,}|[sr]k_(?:live|test)_[0-9A-Za-z]{16,}|xox[a-z]-[0-9A-Za-z-]+|xapp-[0-9A-Za-z-]{8,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{16,}|npm_[0-9A-Za-z]{20,}|hf_[0-9A-Za-z]{20,}|pypi-[0-9A-Za-z_-]{20,}|dop_v1_[0-9a-f]{20,}|SG\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,})",
        left: Left::Text("[secret]"),
    },
    Form {
        hints: &[
            "hvs.", "hvb.", "gl", "shp", "sq0", "lin_api_", "ntn_", "secret_", "figd_", "dapi", "pmak-", "nrak-",
            "atlasv1", "atatt3x", "atctt3x",
        ],
        pattern: r"(?-u:\b)(?:hv[sb]\.[0-9A-Za-z_-]{20,}|gl(?:rt|dt|ptt|cbt|soat|ft|agent|imt|ffct|oas)-[0-9A-Za-z_-]{16,}|shp(?:at|ss|ca|pa)_[0-9A-Fa-f]{24,}|sq0(?:atp|csp)-[0-9A-Za-z_-]{16,}|lin_api_[0-9A-Za-z]{20,}|ntn_[0-9A-Za-z]{20,}|secret_[0-9A-Za-z]{32,}|figd_[0-9A-Za-z_-]{20,}|dapi[0-9a-f]{32}|PMAK-[0-9A-Za-z-]{20,}|NRAK-[0-9A-Z]{20,}|[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{20,}|AT(?:ATT|CTT)3x[0-9A-Za-z_=-]{20,})",
        left: Left::Text("[secret]"),
    },
    Form {
        hints: &[
            "sntrys_",
            "sntryu_",
            "rubygems_",
            "pul-",
            "doo_v1_",
            "dor_v1_",
            "dckr_pat_",
            "oy2",
            "whsec_",
            "r8_",
            "gsk_",
            "xai-",
            "pplx-",
            "tskey-",
            "gocspx-",
            "1//0",
            "sbp_",
            "nvapi-",
            "glsa_",
            "ops_",
            "xkeysib-",
            "ltai",
            "cfpat-",
            "key-",
        ],
        pattern: r"(?-u:\b)(?:sntry[su]_[0-9A-Za-z_=+/-]{20,}|rubygems_[0-9a-f]{32,}|pul-[0-9a-f]{32,}|do[or]_v1_[0-9a-f]{20,}|dckr_pat_[0-9A-Za-z_-]{16,}|oy2[0-9a-z]{43}|whsec_[0-9A-Za-z+/=]{16,}|r8_[0-9A-Za-z]{24,}|gsk_[0-9A-Za-z]{24,}|xai-[0-9A-Za-z]{24,}|pplx-[0-9A-Za-z]{24,}|tskey-[0-9A-Za-z-]{12,}|GOCSPX-[0-9A-Za-z_-]{16,}|1//0[0-9A-Za-z_-]{20,}|sbp_[0-9a-f]{32,}|nvapi-[0-9A-Za-z_-]{24,}|glsa_[0-9A-Za-z_]{24,}|ops_[0-9A-Za-z_=-]{40,}|xkeysib-[0-9A-Za-z-]{24,}|LTAI[0-9A-Za-z]{12,}|CFPAT-[0-9A-Za-z_-]{24,}|key-[0-9a-f]{32})",
        left: Left::Text("[secret]"),
    },
    // Keys of encrypted files, password hashes, account tokens.
    Form {
        hints: &[
            "age-secret-key-",
            "age-plugin-",
            "private-lines:",
            "$2a$",
            "$2b$",
            "$2y$",
            "$5$",
            "$6$",
            "$y$",
            "$argon2",
            "==",
        ],
        pattern: r"(?is)(?:(?-u:\b)age-secret-key-(?:pq-)?1[0-9a-z]{16,}|(?-u:\b)age-plugin-[0-9a-z-]+-1[0-9a-z]{16,}|\$(?:2[aby]|5|6|y|argon2(?:id|i|d))\$[0-9a-z./$=,+-]{20,})",
        left: Left::Text("[secret]"),
    },
    Form {
        hints: &["private-lines:"],
        pattern: r"(?is)(private-lines:\s*[0-9]+\s+)[0-9a-z+/=\s]+?(\nprivate-mac|\z)",
        left: Left::Text("${1}[secret]${2}"),
    },
    Form { hints: &["=="], pattern: r"(\A|[^0-9A-Za-z+/=-])[0-9A-Za-z+/]{86}==", left: Left::Text("${1}[secret]") },
    Form {
        hints: &["sk", "-us", ":aa", "bot"],
        pattern: r"(?-u:\b)(?:SK[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2}|[0-9]{8,10}:AA[0-9A-Za-z_-]{30,})(?-u:\b)",
        left: Left::Text("[secret]"),
    },
    Form {
        hints: &["."],
        pattern: r"(?-u:\b)[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,40}(?-u:\b)",
        left: Left::Text("[secret]"),
    },
    // Addresses that accept posts without a login.
    Form {
        hints: &["hooks.", "webhook", "maker.ifttt.com"],
        pattern: r#"(?i)(hooks\.slack(?:-gov)?\.com/[a-z]+/|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/|\.webhook\.office\.com/[^\s"'/]+/|hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/trigger/[^\s"'/]+/(?:json/)?with/key/|open\.feishu\.cn/open-apis/bot/v2/hook/)[^\s"'<>]+"#,
        left: Left::Text("${1}[secret]"),
    },
    Form {
        hints: &["api.telegram.org"],
        pattern: r"(api\.telegram\.org/(?:file/)?bot)[^\s/]+",
        left: Left::Text("${1}[secret]"),
    },
];
