//! Every bound on what comes from outside, the unit at the end of the name and the reason beside it. What travels on the wire has its own
//! bounds in `toolgate_wire::limits`.

mod expose;
mod kept;
mod login;
mod record;

pub use expose::*;
pub use kept::*;
pub use login::*;
pub use record::*;

/// One settings file: a thousand servers need a twentieth of it.
pub const SETTINGS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Nesting of a settings file; what is documented needs six levels.
pub const SETTINGS_DEPTH_MAX: usize = 64;

/// How long to wait for the end of a pipe that is named in place of a settings file; whoever writes it has begun already.
pub const SETTINGS_PIPE_MS: u64 = 10_000;

/// One YAML file; a hundred servers need a tenth of it.
pub const YAML_FILE_BYTES_MAX: usize = 256 * 1024;

/// Opening brackets in one YAML file, nested or not: its parser takes time that grows with their nesting times the size of the file.
pub const YAML_BRACKETS_MAX: usize = 1_024;

/// Values of one YAML file once its aliases are followed; a hundred servers have a few thousand.
pub const YAML_VALUES_MAX: usize = 100_000;

/// Keys of other programs that one warning names; it counts the rest.
pub const FOREIGN_KEYS_NAMED_MAX: usize = 5;

/// Problems reported one by one from one settings file; the rest are counted. Nobody reads more.
pub const SETTINGS_DIAGNOSTICS_MAX: usize = 200;

/// How much of one key of a settings file is repeated in a message. It may be as long as the file, and stand in every one of its problems.
pub const SETTINGS_KEY_CHARS_MAX: usize = 1_000;

/// Extensions that are looked at in one folder; each may bring servers.
pub const EXTENSIONS_MAX: usize = 500;

/// The file that says which extensions are enabled.
pub const EXTENSION_ENABLEMENT_BYTES_MAX: usize = 1024 * 1024;

/// Folders beside the workspace: the built-in server holds each of them open, and every path of a call is compared with each.
pub const INCLUDED_FOLDERS_MAX: usize = 32;

/// The path of one of them with its variables filled in; the system takes no longer one.
pub const INCLUDED_PATH_BYTES_MAX: usize = 4_096;

/// Policy files that are looked at in one folder.
pub const POLICY_FILES_MAX: usize = 1_000;

/// Values of one argument, or commands of one program, that a suggested rule lists.
pub const SUGGESTED_VALUES_MAX: usize = 8;

/// Paths or commands of one program that a suggested rule lists although they have a common folder or beginning. With more of
/// them, the rule uses the common part.
pub const SUGGESTED_FOLDER_VALUES_MAX: usize = 2;

/// One policy file; 10,000 rules fit.
pub const POLICY_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Rules that are listed of those that came close to deciding about a call; whoever looks for a mistake reads the first few.
pub const CLOSE_RULES_MAX: usize = 50;

/// Changes of permissions that a slow reader may be behind before it is told that it missed some.
pub const PERMISSION_NEWS_MAX: usize = 64;

/// One `.env` file; nobody writes a longer one by hand.
pub const DOTENV_FILE_BYTES_MAX: usize = 256 * 1024;

/// How many folders above the workspace are looked at for a `.env` file; no path is deeper.
pub const FOLDERS_ABOVE_MAX: usize = 256;

/// How often the files of the settings are looked at while a host follows them: a person who saves one waits no longer than this.
pub const SETTINGS_LOOK_MS: u64 = 500;

/// How long to wait for another process that changes the same file; a change takes milliseconds.
pub const STATE_FILE_LOCK_MS: u64 = 10_000;

/// How long to wait before asking for the lock of a file again.
pub const STATE_FILE_LOCK_PAUSE_MS: u64 = 10;

/// The file of trusted folders, and that of their servers: room for ten thousand folders.
pub const TRUST_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Things of one kind that are listed of what a folder brings; the others are counted. Nobody reads more before deciding.
pub const SURVEY_ITEMS_MAX: usize = 200;

/// A command line, an address or a list that is shown of what a folder brings; how much is missing is said.
pub const SURVEY_TEXT_CHARS_MAX: usize = 2_000;

/// Links that are followed to a file that is not there yet; systems follow no more either.
pub const STATE_FILE_LINKS_MAX: usize = 40;

/// The file of servers that are switched off: a line for each.
pub const ENABLEMENT_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How much of a long line is shown around a syntax error.
pub const EXCERPT_CHARS: usize = 120;

/// The name of a server: it stands in tables, tool names and log lines.
pub const SERVER_NAME_CHARS_MAX: usize = 256;

/// Servers that one run may use; each can become a process.
pub const SERVERS_MAX: usize = 10_000;

/// Command, arguments, variables and headers of one server after expansion; systems take no longer command lines.
pub const SERVER_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// References to secrets that one server may have; each may be a command that is run when it starts.
pub const SECRETS_MAX: usize = 64;

/// One secret: what a file holds, a command prints or a keychain keeps. Keys and certificates have a tenth of it.
pub const SECRET_BYTES_MAX: usize = 64 * 1024;

/// How long the command of a `${cmd:…}` may run; some ask a password manager, which asks the person.
pub const SECRET_COMMAND_MS: u64 = 30_000;

/// How long a killed command may take to be gone, and the rest of its output to arrive.
pub const SECRET_COMMAND_END_MS: u64 = 1_000;

/// How long reading a file with a secret may take; only a file system that is away takes longer.
pub const SECRET_FILE_MS: u64 = 10_000;

/// How long the keychain may take; a locked one asks the person for a password.
pub const KEYCHAIN_MS: u64 = 60_000;

/// The shortest value of a server's settings that is covered in what it writes to stderr: shorter ones stand in many words.
pub const MASKED_SECRET_MIN_CHARS: usize = 6;

/// What a command wrote to stderr, or a keychain said, that is repeated in an error.
pub const SECRET_COMPLAINT_CHARS_MAX: usize = 200;

/// A reference to a secret that is repeated in an error; a command can be long.
pub const SECRET_REFERENCE_CHARS_MAX: usize = 200;

/// How long a call may stay silent when `timeout` is not set.
pub const CALL_TIMEOUT_MS_DEFAULT: u64 = 600_000;

/// How long connecting may take when `connectTimeout` is not set.
pub const CONNECT_TIMEOUT_MS_DEFAULT: u64 = 30_000;

/// The longest time limit that can be set: a week, so that adding it to a clock never overflows.
pub const TIME_LIMIT_MS_MAX: u64 = 7 * 24 * 60 * 60_000;

/// Calls that run at once on one server when `maxConcurrency` is not set.
pub const RUNNING_CALLS_COUNT: usize = 5;

/// The most that `maxConcurrency` can be set to.
pub const RUNNING_CALLS_MAX: usize = 1_000;

/// How many servers are being started at once when `mcp.connectLimit` is not set: more would only take turns on the processors.
pub const CONNECT_LIMIT_COUNT: usize = 8;

/// The most that `mcp.connectLimit` can be set to; each may be a process that starts.
pub const CONNECT_LIMIT_MAX: usize = 256;

/// How long a server that has not answered yet keeps its place among those being started: a silent one must not hold up the others.
pub const STARTING_PLACE_MS: u64 = 500;

/// How long listing everything a server offers may take, when its time limit for connecting is not longer.
pub const DISCOVERY_MS: u64 = 60_000;

/// How long after a server was lost it is tried again, at most; twice that after each failure that follows.
pub const RECONNECT_FIRST_MS: u64 = 500;

/// The longest wait between two attempts at a server that keeps failing.
pub const RECONNECT_LONGEST_MS: u64 = 60_000;

/// A connection that stood this long was a good one: the next attempt waits as little as the first.
pub const RECONNECT_STEADY_MS: u64 = 30_000;

/// Tools whose schemas are kept compiled; when more are called, it starts anew.
pub const TOOLS_CHECKED_MAX: usize = 1_024;

/// Calls that wait for a place on one server; whoever asks for more is told that it is busy.
pub const CALLS_WAITING_MAX: usize = 10_000;

/// How long to wait before asking again when a server announced a change and then showed the old list.
pub const REFRESH_AGAIN_MS: u64 = 500;

/// How long after an announced change the list is read, so that a server that announces without end is not asked without end.
pub const REFRESH_PACE_MS: u64 = 50;

/// The longest that is waited before the lists of a server are read that announces changes without end.
pub const REFRESH_PACE_LONGEST_MS: u64 = 5_000;

/// The instructions of one server.
pub const INSTRUCTIONS_CHARS_MAX: usize = 16 * 1024;

/// A name as models and people see it; providers take 64.
pub const EXPOSED_NAME_CHARS_MAX: usize = 63;

/// Events that wait for a reader; a slower one hears how many it missed. Room for all of them is made when a host is.
pub const EVENTS_WAITING_MAX: usize = 512;

/// Questions of one server that are before the person at once; further ones are declined.
pub const QUESTIONS_MAX: usize = 8;

/// The text of one question, log entry or progress message that is passed on to a front end.
pub const QUESTION_CHARS_MAX: usize = 64 * 1024;

/// URLs one refused call may ask the person to visit.
pub const URLS_TO_VISIT_MAX: usize = 8;

/// Names offered to somebody who mistyped one.
pub const NEAREST_NAMES_MAX: usize = 3;

/// Confirmed calls of one tool that were not made yet: a program that never calls must not fill the memory.
pub const CONFIRMED_CALLS_MAX: usize = 100;

/// The beginning of an output that is searched for the words of a service that refuses credentials.
pub const DENIED_SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// Letters compared, and names looked up, to find mistyped entries of lists and rules: each command does it.
pub const LIST_WORK_ALWAYS_MAX: usize = 2_000_000;

/// Letters compared, and names looked up, by a command that reports every entry without a match.
pub const LIST_WORK_MAX: usize = 50_000_000;

/// The longest name that is compared with others to find those.
pub const NEAREST_CHARS_MAX: usize = 256;

/// Names that are compared to find those: comparing is work for every one of them.
pub const NEAREST_COMPARED_MAX: usize = 10_000;

/// Text of one result that a model gets; the rest is cut out of the middle. About ten thousand tokens.
pub const RESULT_CHARS_MAX: usize = 40_000;

/// Inline data (images, sound) of one result that a model gets, in Base64; providers refuse larger requests.
pub const INLINE_DATA_BYTES_MAX: usize = 10 * 1024 * 1024;

/// A media type that is named to a model; longer ones are no media types.
pub const MEDIA_TYPE_BYTES_MAX: usize = 100;

/// The title of a linked resource that is named to a model.
pub const LINK_TITLE_CHARS_MAX: usize = 200;

/// The URI of a linked resource that is named to a model.
pub const LINK_URI_CHARS_MAX: usize = 4_096;

/// Leaves of structured content that are looked for in the text beside it; larger data is hardly told in prose.
pub const MIRROR_LEAVES_MAX: usize = 500;

/// Bytes of structured content or text that are compared with each other.
pub const MIRROR_BYTES_MAX: usize = 256 * 1024;

/// JSON laid out over lines. A larger value is shown compactly on one line, since it is too long to be read.
pub const LAYOUT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Server text that is escaped at a time, so that a large text is never in memory twice.
pub const VISIBLE_PIECE_BYTES: usize = 64 * 1024;

/// Levels of JSON that are indented further and further when it is shown; deeper ones stay at that margin.
pub const INDENT_LEVELS_MAX: usize = 64;

/// One JSON Schema that values are checked against. Larger ones are listed and called, but not checked.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;

/// Schemas within one schema; compiling them takes memory many times their size.
pub const SCHEMA_NODES_MAX: usize = 20_000;

/// References and combinations that follow one another without going deeper into the value, so that no schema runs the stack over.
pub const SCHEMA_CHAIN_MAX: usize = 64;

/// Schemas that the compiler may enter one within the other; each takes some kilobytes of stack.
pub const COMPILE_NESTING_MAX: usize = 100;

/// Schemas that may be entered one within the other while a value is checked, again for the stack.
pub const CHECK_NESTING_MAX: usize = 400;

/// Steps that checking one value may take, told before it begins: about a second.
pub const CHECK_STEPS_MAX: u64 = 20_000_000;

/// Parts of one value that is parsed as a whole: a schema, annotations, a checked result. Each part takes some hundred
/// bytes of memory, so a larger result is passed on unchecked.
pub const CHECKED_PARTS_MAX: usize = 200_000;

/// Regular expressions in one schema.
pub const SCHEMA_PATTERNS_MAX: usize = 256;

/// Memory of one compiled regular expression of a schema. Classes of Unicode letters are large.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Violations that are told one by one; the others are counted.
pub const VIOLATIONS_SHOWN_MAX: usize = 5;

/// Alternatives of which a violation says why each does not fit.
pub const ALTERNATIVES_SHOWN_MAX: usize = 3;

/// Schemas looked at to learn what the parameters of one tool take; references may go in circles.
pub const PARAMETER_LOOKUPS_MAX: usize = 100_000;

/// References and combinations followed one after the other to learn what a parameter takes.
pub const PARAMETER_LOOKUP_DEPTH_MAX: usize = 32;

/// Parameters of one tool that are read, and names of required ones; the others are left out.
pub const PARAMETERS_READ_MAX: usize = 10_000;

/// Parameters that an error lists.
pub const PARAMETERS_LISTED_MAX: usize = 20;

/// Text of somebody else that is repeated within an error.
pub const EXCERPT_CHARS_MAX: usize = 60;

/// Memory of all compiled regular expressions of a schema.
pub const PATTERNS_COMPILED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One shell command; programs are handed over as files, not as commands.
pub const SHELL_TEXT_BYTES_MAX: usize = 64 * 1024;

/// Simple commands in one shell command, also those that wrappers run; each is decided on its own.
pub const SHELL_COMMANDS_MAX: usize = 1_000;

/// Nesting of one shell command, every bracket and quote a level or two.
pub const SHELL_DEPTH_MAX: usize = 256;

/// Wrappers around one another that are looked through; people write two.
pub const SHELL_WRAPPERS_MAX: usize = 8;

/// How often the parser of shell commands may report progress, which it does every hundred steps: a tenth of a second.
pub const SHELL_PARSE_REPORTS_MAX: usize = 20_000;

/// Rules of one policy file, each tool of a list counted; they are kept in memory as long as toolgate runs.
pub const POLICY_RULES_MAX: usize = 20_000;

/// Problems reported one by one from one policy file; the rest are counted. Nobody reads more.
pub const POLICY_FINDINGS_MAX: usize = 200;

/// Rules with `*` in their names, those that stand first, that every other rule of a tier is held against to find the ones that can never match.
pub const POLICY_WIDE_RULES_MAX: usize = 256;

/// Elements of one list of a rule; what such a list says is kept for each tool that the rule names.
pub const POLICY_LIST_MAX: usize = 256;

/// The name of a tool or server in a rule: longer than any that a server may have.
pub const POLICY_NAME_CHARS_MAX: usize = 512;

/// Any other text in a rule; patterns and messages need far less.
pub const POLICY_TEXT_CHARS_MAX: usize = 8_192;

/// `all`, `any` and `not` within each other; people lose track long before.
pub const POLICY_WHEN_DEPTH_MAX: usize = 8;

/// Tests on arguments within one rule.
pub const POLICY_WHEN_TESTS_MAX: usize = 256;

/// Memory of one compiled regular expression of a rule. Classes of Unicode letters are large.
pub const POLICY_REGEX_COMPILED_BYTES_MAX: usize = 1024 * 1024;

/// Memory of all compiled regular expressions in the policies of one owner: the folder, its extensions, the person, the administrator. It
/// also bounds the compile time, which every command waits for.
pub const POLICY_REGEXES_COMPILED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Regular expressions in the policies of one owner; compiling a small one takes up to a millisecond.
pub const POLICY_REGEXES_MAX: usize = 2_000;

/// What the lazy matcher of one regular expression of a rule may keep while it looks.
pub const POLICY_REGEX_CACHE_BYTES_MAX: usize = 256 * 1024;

/// Path arguments that are checked against the workspace folder in one call; each costs a look at the file system.
pub const CHECKED_PATHS_MAX: usize = 1_000;

/// Files named by the read-only commands of one call, each followed through links; a call with more needs a confirmation.
pub const LOOKED_AT_FILES_MAX: usize = 200;

/// Folders in which such a command may run after `cd`; each file is checked in all of them.
pub const LOOKED_FROM_FOLDERS_MAX: usize = 16;

/// Ways in which the text of one path is read; an honest one has two or three, and each costs a look at the file system.
pub const PATH_READINGS_MAX: usize = 32;

/// Total size of all readings of one text.
pub const PATH_READINGS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// One entry of a list of tools: a name, and a command, a path or an address after it.
pub const FILTER_ENTRY_BYTES_MAX: usize = 4_096;

/// Entries of a list of tools that an error names.
pub const FILTER_ENTRIES_LISTED_MAX: usize = 5;

/// The file of what was allowed for good: room for thousands of grants.
pub const GRANTS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What is allowed for good at one time; every call is compared with all of it.
pub const GRANTS_MAX: usize = 10_000;

/// What is allowed for one session at one time; the oldest is asked about again.
pub const SESSION_GRANTS_MAX: usize = 1_000;

/// Arguments that are remembered for good: a person has to be able to read them in the file.
pub const GRANT_ARGUMENTS_BYTES_MAX: usize = 16 * 1024;

/// A file, before or after a change, that is compared to show the change; nobody reads a larger one before deciding.
pub const EDIT_PREVIEW_BYTES_MAX: usize = 1024 * 1024;

/// How often one shell command is read again after the end of a line was missed; each time shows those of all lines, as a rule.
pub const SHELL_PARSES_MAX: usize = 8;

/// What is kept while one shell command is decided: its other arguments once for each simple command in it.
pub const SHELL_CALL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Words of a program that runs others in which the beginning of what it runs is looked for; each is compared with all that follow.
pub const SHELL_RUNNER_WORDS_MAX: usize = 64;

/// Stored words of one shell command that may be run. With more, the command could run anything.
pub const SHELL_DOUBTS_MAX: usize = 1_024;

/// Here-documents and shifts in one shell command; the scanner keeps what it knows of them in one kilobyte.
pub const SHELL_HERE_DOCUMENTS_MAX: usize = 32;

/// Records of one host that wait to be written down. Each call waits for its own, so there are as many as calls at once.
pub const RECORDS_WAITING_MAX: usize = 1_024;

/// Values that a server proposes for an argument: what the protocol allows.
pub const PROPOSED_VALUES_MAX: usize = 100;

/// Revisions of settings and policies: years of changes by hand, months of changes by commands.
pub const REVISIONS_MAX: usize = 200;

/// Contents of all revisions together: settings take kilobytes, so only policies of megabytes reach this.
pub const REVISIONS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One text of a revision: the largest that settings, policies, grants and trust may have.
pub const REVISION_CONTENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The list of revisions: two hundred with a hundred policy files each.
pub const REVISION_LOG_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The reason of a change in a revision: a sentence or two.
pub const REVISION_REASON_CHARS_MAX: usize = 500;
