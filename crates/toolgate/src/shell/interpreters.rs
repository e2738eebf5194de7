//! Interpreters: which of their words is the text or the file that they run, and what they run besides it.
//!
//! An option that is taken for one with a value hides the word behind it, and a value that is taken for a file hides the rest. So each language
//! says which of its options have values; a letter that is not known could be any.

use super::acting::acts;
use super::inline::is_plain;
use super::runners::runs_words;
use super::script::Word;

/// An interpreter, with its options.
struct Interpreter {
    names: &'static [&'static str],
    /// Letters whose value is a text to run.
    texts: &'static str,
    /// Letters whose value is the next word, when none is attached.
    valued: &'static str,
    /// Letters with an attached value, if any.
    attached: &'static str,
    /// Letters without a value. Where none are named, a letter is taken for one of these.
    flags: &'static str,
    /// Letters with which it reads its input, whatever else it runs.
    asks: &'static str,
    /// Names of options whose value is a text.
    long_texts: &'static [&'static str],
    /// Names of options whose value may be the next word.
    long_valued: &'static [&'static str],
    /// Options that load a file before the script, or instead of it.
    loading: &'static [&'static str],
}

const PLAIN: Interpreter = Interpreter {
    names: &[],
    texts: "",
    valued: "",
    attached: "",
    flags: "",
    asks: "",
    long_texts: &[],
    long_valued: &[],
    loading: &[],
};

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "pythonw", "ipython", "py"],
        texts: "c",
        valued: "WXmQ",
        flags: "bBdEhIOPRsSuvVx?t3",
        asks: "i",
        long_valued: &["--check-hash-based-pycs"],
        ..PLAIN
    },
    Interpreter {
        names: &["perl"],
        texts: "eE",
        valued: "I",
        attached: "0CdDFilmMVx",
        flags: "acfhgnpsStTuUvwWX",
        ..PLAIN
    },
    Interpreter {
        names: &["node", "nodejs", "tsx", "ts-node", "bun", "deno", "qjs"],
        texts: "ep",
        valued: "rC",
        asks: "i",
        long_texts: &["--eval", "--print"],
        long_valued: NODE_VALUED,
        loading: &[
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--preload",
            "--env-file",
            "--env-file-if-exists",
            "--test-reporter",
            "--test-global-setup",
            "--experimental-config-file",
            "--experimental-policy",
            "--snapshot-blob",
            "--build-snapshot",
            "--openssl-config",
            "-r",
        ],
        ..PLAIN
    },
    Interpreter {
        names: &["ruby", "jruby", "irb", "crystal"],
        texts: "e",
        valued: "ICrE",
        attached: "FTWx0iK",
        flags: "achlnpsSUvwy",
        ..PLAIN
    },
    Interpreter {
        names: &["php", "php-cgi"],
        texts: "rBRE",
        valued: "cdfFSt",
        asks: "a",
        long_texts: &["--run", "--process-begin", "--process-code", "--process-end"],
        ..PLAIN
    },
    Interpreter { names: &["lua", "luajit", "texlua"], texts: "e", asks: "i", loading: &["-l"], ..PLAIN },
    Interpreter { names: &["julia"], texts: "eE", asks: "i", loading: &["-L", "--load"], ..OTHER },
    Interpreter {
        names: &["raku", "rakudo", "rscript", "r", "ghc", "runghc", "ocaml", "osascript", "groovy", "scala", "kotlin"],
        ..OTHER
    },
    Interpreter { names: &["elixir", "iex"], ..OTHER },
    Interpreter {
        names: &["guile", "clojure", "clj", "bb", "janet", "swift", "racket", "gosh"],
        texts: "ce",
        long_texts: &["--eval"],
        ..OTHER
    },
    Interpreter {
        names: &["sbcl", "clisp", "erl", "octave", "matlab", "scheme"],
        texts: "xre",
        long_texts: &["--eval", "--run", "--load"],
        ..OTHER
    },
    Interpreter { names: &["mongosh", "mongo"], long_texts: &["--eval"], ..OTHER },
    Interpreter { names: &["tclsh", "wish", "jshell"], ..OTHER },
];

/// Languages of which less is known.
const OTHER: Interpreter = Interpreter { texts: "eE", valued: "WXrIC", long_texts: &["--eval", "--print"], ..PLAIN };

/// Options of `node` whose value may be a word of its own.
const NODE_VALUED: &[&str] = &[
    "--allow-fs-read",
    "--allow-fs-write",
    "--build-snapshot-config",
    "--conditions",
    "--cpu-prof-dir",
    "--cpu-prof-interval",
    "--cpu-prof-name",
    "--diagnostic-dir",
    "--disable-proto",
    "--disable-warning",
    "--dns-result-order",
    "--experimental-default-type",
    "--heap-prof-dir",
    "--heap-prof-interval",
    "--heap-prof-name",
    "--heapsnapshot-near-heap-limit",
    "--heapsnapshot-signal",
    "--icu-data-dir",
    "--input-type",
    "--inspect-port",
    "--inspect-publish-uid",
    "--localstorage-file",
    "--max-http-header-size",
    "--network-family-autoselection-attempt-timeout",
    "--policy-integrity",
    "--redirect-warnings",
    "--report-dir",
    "--report-directory",
    "--report-filename",
    "--report-signal",
    "--secure-heap",
    "--secure-heap-min",
    "--test-concurrency",
    "--test-name-pattern",
    "--test-reporter-destination",
    "--test-shard",
    "--test-skip-pattern",
    "--test-timeout",
    "--title",
    "--tls-cipher-list",
    "--tls-keylog",
    "--trace-event-categories",
    "--trace-event-file-pattern",
    "--trace-require-module",
    "--unhandled-rejections",
    "--use-largepages",
    "--v8-pool-size",
    "--watch-path",
];

/// Options that show something and end.
const SHOWING: [&str; 8] = ["--version", "--help", "-V", "-v", "-h", "version", "help", "--help-all"];

/// Whether an interpreter is given a text that may run others, or reads one from its input.
pub(super) fn runs(program: &str, arguments: &[Word]) -> bool {
    let name = program.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.' || sign == '-');
    let Some(interpreter) = INTERPRETERS.iter().find(|it| it.names.contains(&name)) else { return false };
    if let [Word { literal: Some(only), .. }] = arguments
        && SHOWING.contains(&only.as_str())
    {
        return false;
    }
    interpreter.preloads(arguments)
        || (name == "perl" && (loads_code(arguments) || opens_command(arguments)))
        || interpreter.reads(name, arguments)
}

/// A letter of an option, with what it does to the words behind it.
enum Short<'a> {
    Flags,
    /// The value of this letter, which is the next word when there is none.
    Value(char, Option<&'a str>),
    /// It could be anything, or reads its input.
    Unknown,
}

impl Interpreter {
    /// Whether what it reads may run others: a text, a module, its input, or a file that cannot be told.
    fn reads(&self, name: &str, arguments: &[Word]) -> bool {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word.may_be_any() || matches!(word.head.as_str(), "-" | "/dev/stdin" | "/proc/self/fd/0") {
                return true;
            }
            let Some(option) = word.head.strip_prefix('-') else {
                // Of these languages no other file is common than one that runs programs.
                return matches!(name, "tclsh" | "wish" | "jshell")
                    || (matches!(word.head.as_str(), "eval" | "repl") && name == "deno");
            };
            if option.starts_with('-') {
                if self.long_texts.iter().any(|long| word.head.split('=').next() == Some(long)) {
                    return true;
                }
                if self.long_valued.contains(&word.head.as_str()) {
                    words.next();
                }
                continue;
            }
            match self.short(option) {
                Short::Flags => {}
                Short::Unknown => return true,
                Short::Value('m', module) if name.starts_with("py") => {
                    let module = module.or_else(|| words.next().map(Word::shown));
                    return module.is_none_or(|module| runs_module(module, words.as_slice()));
                }
                Short::Value(letter, value) if self.texts.contains(letter) => {
                    let text = value.or_else(|| words.next().map(Word::shown));
                    return !text.is_some_and(|text| is_plain(name, text)) || words.any(|word| self.is_text(word));
                }
                Short::Value(_, value) => {
                    if value.is_none() {
                        words.next();
                    }
                }
            }
        }
        // Without a file it reads its input.
        true
    }

    fn short<'a>(&self, option: &'a str) -> Short<'a> {
        let mut rest = option;
        while let Some(letter) = rest.chars().next() {
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            if self.asks.contains(letter) {
                return Short::Unknown;
            }
            if self.texts.contains(letter) || self.valued.contains(letter) {
                // `node -pe text` and `node -e text`: letters for the same text.
                let value =
                    if self.long_texts.is_empty() { rest } else { rest.trim_start_matches(self.is_text_letter()) };
                return Short::Value(letter, Some(value).filter(|value| !value.is_empty()));
            }
            match letter {
                // Letters may follow behind these numbers and letters: `-0777pe`, `-CSDe`.
                '0' | 'l' if self.attached.contains(letter) => {
                    rest = rest.trim_start_matches(|sign: char| sign.is_ascii_hexdigit() && sign != 'e' || sign == 'x');
                }
                'C' if self.attached.contains(letter) => {
                    rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || "IOEioADSLa".contains(sign));
                }
                _ if self.attached.contains(letter) => return Short::Flags,
                _ if !self.flags.is_empty() && !self.flags.contains(letter) => return Short::Unknown,
                _ => {}
            }
        }
        Short::Flags
    }

    fn is_text_letter(&self) -> impl Fn(char) -> bool {
        let texts = self.texts;
        move |letter| texts.contains(letter)
    }

    /// Whether a later word gives another text.
    fn is_text(&self, word: &Word) -> bool {
        let letters = self.texts;
        word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(|it| letters.contains(it))
    }

    /// Whether an option before the script loads a file that runs before it.
    fn preloads(&self, arguments: &[Word]) -> bool {
        const VALUED: [&str; 6] = ["-e", "-p", "-pe", "-C", "--eval", "--print"];
        let loads =
            |option: &str| self.loading.iter().any(|it| option == *it || (it.len() == 2 && option.starts_with(it)));
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let option = word.head.split('=').next().unwrap_or_default();
            if loads(option) {
                return true;
            }
            if !option.starts_with('-') {
                return false;
            }
            if VALUED.contains(&word.head.as_str()) || self.long_valued.contains(&word.head.as_str()) {
                words.next();
            }
        }
        false
    }
}

/// Modules of Python that run a text, or read one.
const MODULES_RUNNING: [&str; 13] = [
    "IPython",
    "antigravity",
    "asyncio",
    "bdb",
    "cProfile",
    "code",
    "idlelib",
    "idlelib.idle",
    "pdb",
    "profile",
    "timeit",
    "trace",
    "webbrowser",
];

/// Whether a module of Python runs what its words say: by itself, or like the program of that name.
fn runs_module(module: &str, arguments: &[Word]) -> bool {
    MODULES_RUNNING.contains(&module) || acts(module, arguments) || runs_words(module, arguments)
}

/// Whether an option of `perl` has a value that is code: a module, a debugger or a separator that is more than a name. Letters before it may
/// stand in the same word. A module may come from a folder that another option names.
fn loads_code(arguments: &[Word]) -> bool {
    let letters = |word: &Word| {
        let letters = word.head.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?.to_owned();
        let (at, letter) = letters.char_indices().find(|(_, letter)| "MmdDVFeEiIx".contains(*letter))?;
        Some((letter, letters.get(at + 1..).unwrap_or_default().to_owned()))
    };
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || "_:=,./-+".contains(sign);
    let is_code = |word: &Word| match letters(word) {
        Some(('M' | 'm' | 'd' | 'D' | 'V', value)) => word.literal.is_none() || !value.chars().all(is_name),
        Some(('F', value)) => word.literal.is_none() || value.contains(['(', '{', '@', '$', '`']),
        _ => false,
    };
    let has = |wanted: &[char]| arguments.iter().filter_map(letters).any(|(letter, _)| wanted.contains(&letter));
    arguments.iter().any(is_code) || (has(&['I']) && has(&['M', 'm', 'd']))
}

/// Whether a file of `perl -n` or `perl -p` is a command instead: one that begins or ends with `|` is run.
fn opens_command(arguments: &[Word]) -> bool {
    let reads_files = |word: &Word| {
        word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(['n', 'p', 'e', 'E'])
    };
    let is_command = |word: &Word| {
        let text = word.shown().trim().trim_matches('"').trim();
        text.starts_with('|') || text.ends_with('|')
    };
    arguments.iter().any(reads_files) && arguments.iter().any(is_command)
}
