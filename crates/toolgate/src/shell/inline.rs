//! Programs that run code from their command line: `sed 1e…`, `awk 'system()'`, `python -c`.
//!
//! The effect of such a text cannot be determined in general. Plain texts, such as `s/a/b/`, are told from those that
//! may run a program.

use super::interpreters;
use super::script::Word;
use super::sed;

/// Whether a program gets code that may run other programs, or reads code from its input.
pub(super) fn runs_code(program: &str, arguments: &[Word]) -> bool {
    match program {
        "sed" | "ssed" | "psed" => sed_runs(arguments),
        name if name.ends_with("awk") => awk_runs(arguments),
        _ => interpreters::runs(program, arguments),
    }
}

/// Whether code runs no program, as far as can be determined.
pub(super) fn is_plain(name: &str, text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    match name {
        "python" | "pypy" | "py" => is_plain_python(text),
        "perl" => {
            text.trim_end_matches(';').split(';').all(|part| is_substitution(part.trim()))
                && !text.contains(['@', '`', '\\'])
        }
        "node" | "nodejs" => is_plain_node(text),
        _ => false,
    }
}

/// Names through which Python code reaches other programs, or builds names at run time.
const PYTHON_REACHING: [&str; 34] = [
    "__",
    "attrgetter",
    "breakpoint",
    "call(",
    "check_output",
    "code",
    "compile",
    "ctypes",
    "delattr",
    "eval",
    "exec",
    "fork",
    "getattr",
    "getoutput",
    "globals",
    "help",
    "import_module",
    "importlib",
    "input",
    "locals",
    "methodcaller",
    "modules",
    "pickle",
    "popen",
    "posix",
    "pty",
    "run",
    "setattr",
    "spawn",
    "startfile",
    "subprocess",
    "system",
    "vars",
    "webbrowser",
];

/// Python modules that reach no other program, except through names that are checked.
const PYTHON_MODULES: [&str; 38] = [
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "collections",
    "csv",
    "datetime",
    "decimal",
    "difflib",
    "fractions",
    "functools",
    "glob",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "ipaddress",
    "itertools",
    "json",
    "math",
    "os",
    "pathlib",
    "platform",
    "pprint",
    "random",
    "re",
    "secrets",
    "shutil",
    "socket",
    "statistics",
    "string",
    "sys",
    "textwrap",
    "time",
    "tomllib",
    "unicodedata",
    "urllib",
    "uuid",
];

/// Whether every import in Python code is known to reach no other program.
fn imports_plainly(text: &str) -> bool {
    let is_known = |name: &str| PYTHON_MODULES.contains(&name.trim().split(['.', ' ']).next().unwrap_or_default());
    text.split([';', '\n', '\r', ':']).map(str::trim).filter(|part| part.contains("import")).all(|part| {
        match (part.strip_prefix("from "), part.strip_prefix("import ")) {
            (Some(rest), _) => is_known(rest),
            (None, Some(rest)) => !rest.contains("import") && rest.split(',').all(is_known),
            (None, None) => false,
        }
    })
}

fn is_plain_python(text: &str) -> bool {
    imports_plainly(text)
        && !PYTHON_REACHING.iter().any(|name| text.to_ascii_lowercase().contains(name))
        && !text.contains('$')
}

fn is_plain_node(text: &str) -> bool {
    const REACHING: [&str; 14] = [
        "child",
        "spawn",
        "exec",
        "fork",
        "eval",
        "function",
        "constructor",
        "import",
        "binding",
        "worker",
        "module",
        "global",
        "this",
        "load",
    ];
    let lower = text.to_ascii_lowercase();
    let loads_plainly = lower.split("require").skip(1).all(|rest| {
        let inner = rest.trim_start().strip_prefix('(').map(str::trim_start).unwrap_or_default();
        let quote = inner.chars().next().filter(|sign| matches!(sign, '\'' | '"'));
        let name = quote.and_then(|quote| inner.get(1..)?.split_once(quote));
        name.is_some_and(|(name, rest)| {
            let is_known = matches!(name.trim_start_matches("node:"), "fs" | "path" | "os" | "util" | "crypto" | "url");
            (is_known || name.ends_with(".json")) && rest.trim_start().starts_with(')')
        })
    });
    let indexes =
        lower.split('[').skip(1).any(|rest| !rest.starts_with(|sign: char| sign.is_ascii_digit() || sign == ']'));
    loads_plainly && !indexes && !lower.contains(['`', '\\', '$']) && !REACHING.iter().any(|name| lower.contains(name))
}

/// `s/a/b/` with flags that run nothing.
fn is_substitution(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('s') else { return false };
    let Some(sign) = rest.chars().next().filter(char::is_ascii_punctuation) else { return false };
    let mut parts = rest.get(1..).unwrap_or_default().split(sign);
    let (from, to, flags) = (parts.next(), parts.next(), parts.next());
    // A name with a subscript is calculated, also in a pattern: `$x[system 'y']`.
    let has_subscript = |part: &str| part.contains('$') && (part.contains('[') || part.contains("->"));
    let is_inert = |part: &str| !part.contains("(?") && !part.contains('{') && !has_subscript(part);
    from.is_some_and(is_inert)
        && to.is_some_and(is_inert)
        && parts.next().is_none()
        && flags.is_some_and(|flags| flags.trim().chars().all(|flag| "gimsx".contains(flag)))
}

/// Options of `sed` and `awk`. Both have `-e text` and `-f file`; the contents of files are unknown.
struct Language {
    /// The long option for code.
    long: &'static str,
    /// Long options with a value that is data.
    data: &'static [&'static str],
    /// Long options without a value, or with one behind `=`.
    flags: &'static [&'static str],
    /// Long options with the name of a file with code.
    files: &'static [&'static str],
    /// Letters of options with a value.
    valued: &'static str,
    /// The letter with an attached value, if any.
    attached: Option<char>,
}

/// The kind of a long option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    Code,
    Data,
    Flag,
    File,
}

impl Language {
    /// The kind of a long option, which may be abbreviated. `None` when it is unknown, or could be of several kinds.
    fn kind(&self, name: &str) -> Option<Long> {
        let code = [self.long];
        let lists: [(&[&str], Long); 4] =
            [(&code, Long::Code), (self.data, Long::Data), (self.flags, Long::Flag), (self.files, Long::File)];
        let exact = lists.iter().find(|(names, _)| names.contains(&name)).map(|(_, kind)| *kind);
        let mut meant =
            lists.iter().filter(|(names, _)| names.iter().any(|long| long.starts_with(name))).map(|(_, kind)| *kind);
        let only = meant.next().filter(|_| meant.next().is_none());
        exact.or(only)
    }
}

const SED: Language = Language {
    long: "expression",
    data: &["line-length"],
    flags: &[
        "binary",
        "debug",
        "follow-symlinks",
        "help",
        "in-place",
        "null-data",
        "posix",
        "quiet",
        "regexp-extended",
        "sandbox",
        "separate",
        "silent",
        "unbuffered",
        "version",
        "zero-terminated",
    ],
    files: &["file"],
    valued: "il",
    attached: Some('i'),
};

const AWK: Language = Language {
    long: "source",
    data: &["assign", "field-separator"],
    flags: &[
        "bignum",
        "characters-as-bytes",
        "copyright",
        "csv",
        "gen-pot",
        "help",
        "lint",
        "lint-old",
        "no-optimize",
        "non-decimal-data",
        "optimize",
        "posix",
        "re-interval",
        "sandbox",
        "traditional",
        "use-lc-numeric",
        "version",
    ],
    files: &["debug", "exec", "file", "include", "load"],
    valued: "Fv",
    attached: None,
};

/// The code of `sed` and `awk`: from options, or else the first operand. `None` when that is ambiguous.
fn scripts<'a>(arguments: &'a [Word], language: &Language) -> Option<Vec<&'a Word>> {
    let mut texts = Vec::new();
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.may_be_any() {
            return None;
        }
        let Some(option) = word.head.strip_prefix('-').filter(|option| !option.is_empty()) else {
            operands.push(word);
            continue;
        };
        if let Some(long) = option.strip_prefix('-') {
            let (name, is_attached) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            if name.is_empty() {
                // Everything behind `--` is an operand.
                let rest = words.as_slice();
                if rest.iter().any(Word::may_be_any) {
                    return None;
                }
                operands.extend(rest);
                break;
            }
            match language.kind(name)? {
                Long::Code => texts.push(if is_attached { word } else { words.next()? }),
                Long::Data if !is_attached => drop(words.next()?),
                Long::Data | Long::Flag => {}
                Long::File => return None,
            }
            continue;
        }
        let takes = |letter: char| letter == 'e' || letter == 'f' || language.valued.contains(letter);
        let Some((at, letter)) = option.char_indices().find(|(_, letter)| takes(*letter)) else { continue };
        if language.attached == Some(letter) {
            continue;
        }
        let value = if at + 1 == option.len() { words.next()? } else { word };
        match letter {
            'e' => texts.push(value),
            'f' => return None,
            _ => {}
        }
    }
    if texts.is_empty() {
        texts.extend(operands.iter().find(|word| word.literal.as_deref() != Some("")));
    }
    Some(texts)
}

/// The text of a word, without the remaining quotes of a partly unknown word.
fn text_in(word: &Word) -> Option<&str> {
    match &word.literal {
        Some(text) => Some(text),
        None if word.head.is_empty() => None,
        None => Some(word.raw.trim_matches('"')),
    }
}

fn sed_runs(arguments: &[Word]) -> bool {
    let Some(texts) = scripts(arguments, &SED) else { return true };
    texts.into_iter().any(|word| text_in(word).is_none_or(|text| !sed::is_plain(without_option(text))))
}

/// A text without the option before it.
fn without_option(text: &str) -> &str {
    match text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.split_once('=').map_or(text, |(_, value)| value),
        Some(letters) => letters.split_once('e').map_or(text, |(_, value)| value),
        None => text,
    }
}

fn awk_runs(arguments: &[Word]) -> bool {
    let Some(texts) = scripts(arguments, &AWK) else { return true };
    let loads = |word: &Word| {
        ["-l", "-i", "-E", "-W", "--load", "--inc", "--exe"].iter().any(|option| word.head.starts_with(option))
    };
    arguments.iter().any(loads) || texts.into_iter().any(|word| text_in(word).is_none_or(reaches))
}

/// Whether `awk` code opens a program, or calls a function by a computed name. Before the first `print`, a bar is part of a pattern.
fn reaches(text: &str) -> bool {
    let writes_to = text.split_once("print").is_some_and(|(_, rest)| rest.replace("||", "").contains('|'));
    writes_to || ["system", "getline", "@"].iter().any(|part| text.contains(part))
}
