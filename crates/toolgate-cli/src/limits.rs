//! Every bound of the program on what comes from outside, the unit at the end of the name and the reason beside it.

/// Arguments read from a file or from stdin: more than any tool takes in one call.
pub(crate) const ARGUMENTS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is added to a prompt from stdin: more than any model has in view.
pub(crate) const PIPED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How long nothing comes from stdin before it is said that it is waited for.
pub(crate) const PIPE_SILENCE_MS: u64 = 3_000;

/// Arguments that a hint repeats: with more of them it is no command line to be copied.
pub(crate) const HINT_ARGUMENTS_BYTES_MAX: usize = 200;

/// A line pasted during a login: an address with everything that an authorization server puts into it.
pub(crate) const PASTED_LINE_BYTES_MAX: usize = 64 * 1024;

/// Questions in one form: a person who is asked more than this is being worn down, not asked.
pub(crate) const FORM_FIELDS_MAX: usize = 32;

/// Choices of one question.
pub(crate) const FORM_CHOICES_MAX: usize = 1000;

/// The end of what a server wrote to stderr that is shown when it failed.
pub(crate) const STDERR_LINES_MAX: usize = 20;

/// The same in a list of servers, where each of them has little room.
pub(crate) const STDERR_LISTED_LINES_MAX: usize = 5;

/// How long a model waits, after the last server arrived, for those of which nothing is known: what they offer reaches it with its next request.
pub(crate) const MODEL_WAIT_MS: u64 = 2_000;

/// Servers named while they are waited for; the others are counted.
pub(crate) const AWAITED_NAMES_MAX: usize = 3;

/// Arguments of one tool or prompt that are named to somebody who gave wrong ones.
pub(crate) const TAKEN_ARGUMENTS_MAX: usize = 40;

/// Calls that a broad allow must have matched before a narrower rule is proposed: fewer say little about its purpose.
pub(crate) const REVIEWED_CALLS_COUNT: usize = 5;

/// Lines kept while a question is on the screen; a server must not fill our memory while a person thinks.
pub(crate) const HELD_BACK_LINES_MAX: usize = 1000;

/// Lines of one kind about one server that are said without being asked for; the others are counted.
pub(crate) const LIKE_LINES_MAX: usize = 3;

/// Servers named to somebody who asked for one that is not there, when none is like it.
pub(crate) const NAMED_SERVERS_MAX: usize = 20;

/// One log entry of a server: an entry is a line, not a dump.
pub(crate) const LOG_ENTRY_CHARS_MAX: usize = 2000;

/// What a server says about its progress: there is one line for it.
pub(crate) const PROGRESS_CHARS_MAX: usize = 200;

/// The message of a question of a server: it has to stay on the screen together with the choices.
pub(crate) const QUESTION_CHARS_MAX: usize = 1000;

/// A word of a server beside what it says: the label of a question in a form, each of its choices, the name and level of a log.
pub(crate) const LABEL_CHARS_MAX: usize = 120;

/// Calls that a change of rules decides otherwise, in one line of the record: `--json` has them all.
pub(crate) const AUDIT_IMPACT_SHOWN_MAX: usize = 3;

/// Unused servers that are named with the reason when there is nothing else to show.
pub(crate) const HELD_BACK_NAMED_MAX: usize = 10;

/// Mistyped list entries that one command warns about; `doctor` shows the others.
pub(crate) const UNMATCHED_TOLD_MAX: usize = 5;

/// List entries that match nothing, in one report: a policy for many kinds of servers has more than a person reads.
pub(crate) const UNMATCHED_LISTED_MAX: usize = 30;

/// Lines that a session prints once and remembers.
pub(crate) const SAID_ONCE_LINES_MAX: usize = 1000;

/// Replaced servers that a question about a folder names; the lines above the question name all.
pub(crate) const REPLACED_NAMED_MAX: usize = 3;

/// What a form says about one of its questions.
pub(crate) const FORM_HELP_CHARS_MAX: usize = 500;

/// Lines that all arguments of a call take together when the person is asked about it; they share them.
pub(crate) const CONFIRM_ARGUMENTS_LINES_MAX: usize = 60;

/// Lines of one argument of a call when the person is asked about it; the rest is cut out of the middle.
pub(crate) const CONFIRM_ARGUMENT_LINES_MAX: usize = 20;

/// Lines of a change of a file when the person is asked about it.
pub(crate) const CONFIRM_CHANGE_LINES_MAX: usize = 80;

/// Lines of the screen that one line of a file takes in a change.
pub(crate) const CONFIRM_CHANGE_LINE_LINES_MAX: usize = 4;

/// How long comparing two texts may take before the change is shown less finely.
pub(crate) const CONFIRM_CHANGE_MS: u64 = 500;

/// Reasons for a question, beside the rule that asks.
pub(crate) const CONFIRM_REASONS_MAX: usize = 10;

/// The name of a tool or server within one of the answers; there is a line for each.
pub(crate) const CHOICE_NAME_CHARS_MAX: usize = 30;

/// What whoever asked is told about why not.
pub(crate) const REFUSAL_CHARS_MAX: usize = 2000;
/// What is said about one call of the audit log in a table: its arguments, or what went wrong.
pub(crate) const AUDIT_ABOUT_CHARS_MAX: usize = 80;

/// The name of a server or tool in a table of the audit log.
pub(crate) const AUDIT_NAME_CHARS_MAX: usize = 40;

/// A file with logins that is read.
pub(crate) const LOGIN_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// One frame between the program and the runtime: the whole environment of a process, and a word that is longer than most.
pub(crate) const RUNTIME_FRAME_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What waits to be read by one program that the runtime works for; whoever does not read slows only itself.
pub(crate) const OUTBOX_BYTES_MAX: usize = 1024 * 1024;

/// One line that the runtime has a program say beside its results: more than anybody reads, and less than a frame.
pub(crate) const TALK_LINE_BYTES_MAX: usize = 256 * 1024;

/// Questions of servers that are open in one command: a person answers one after the other.
pub(crate) const SERVER_QUESTIONS_MAX: usize = 16;

/// The path of a socket: what the smallest system takes.
pub(crate) const SOCKET_PATH_BYTES_MAX: usize = 100;

/// Commands that the runtime runs at once; more than that are run by whoever brought them.
pub(crate) const RUNTIME_VISITS_MAX: usize = 128;

/// Programs that are connected to the runtime at once, those included that have not said what they want.
pub(crate) const RUNTIME_CONNECTIONS_MAX: usize = 256;

/// How long whoever reads slowly may take to read the end of their command when the runtime ends.
pub(crate) const RUNTIME_LAST_WORDS_MS: u64 = 1000;

/// Hosts that the runtime keeps, one for each folder and environment; the one unused the longest makes room.
pub(crate) const RUNTIME_HOSTS_MAX: usize = 16;

/// How long somebody who connected to the runtime may take to say what they want.
pub(crate) const RUNTIME_REQUEST_MS: u64 = 10_000;

/// How long the runtime may take to say whether it takes a command: then it hangs, and the command is taken back.
pub(crate) const RUNTIME_TAKEN_MS: u64 = 5_000;

/// How long the runtime may take to end a command that the person stopped, until it is left alone with it.
pub(crate) const RUNTIME_STOP_MS: u64 = 5_000;

/// How long the runtime looks whether a server wants a login, before it shows somebody at a terminal what there is.
pub(crate) const RUNTIME_LOGIN_LOOK_MS: u64 = 2_000;

/// How long the runtime may take to start, and to end.
pub(crate) const RUNTIME_CHANGE_MS: u64 = 20_000;

/// The log of the runtime that is kept when the next one starts.
pub(crate) const RUNTIME_LOG_BYTES_MAX: u64 = 1024 * 1024;

/// The end of the log that is shown when the runtime did not start.
pub(crate) const RUNTIME_LOG_LINES_MAX: usize = 10;

/// A line typed or read in a session: a pasted file, but no dump.
pub(crate) const TYPED_LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A line typed while something runs: more than a terminal keeps of one.
pub(crate) const TYPED_AHEAD_BYTES_MAX: usize = 8 * 1024;

/// Lines of earlier sessions that can be looked back at.
pub(crate) const HISTORY_LINES_MAX: usize = 2000;

/// The file they are kept in; when it is longer, its older half is forgotten.
pub(crate) const HISTORY_BYTES_MAX: u64 = 1024 * 1024;

/// Lines that wait to be shown above the one that is typed.
pub(crate) const NEWS_LINES_MAX: usize = 200;

/// What can be chosen from while typing; more is no choice.
pub(crate) const CANDIDATES_MAX: usize = 200;

/// Entries of a folder that are looked at to complete the name of a file.
pub(crate) const FOLDER_ENTRIES_MAX: usize = 5000;

/// How long a server may take to complete what is typed; the person waits.
pub(crate) const COMPLETION_MS: u64 = 400;

/// Resources of one server that are listed beside what else it offers; the others are counted.
pub(crate) const LISTED_RESOURCES_MAX: usize = 10;

/// What is shown of a call that a model makes: what it is called with, or why it failed.
pub(crate) const CALL_SHOWN_CHARS_MAX: usize = 200;

/// A file that goes to a model with what was typed; the rest of a larger one is for a tool to read.
pub(crate) const REFERENCED_FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// How long a session has to leave by itself when it is told to; then it is ended.
pub(crate) const LEAVING_MS: u64 = 1000;

/// Tools that a search names; what comes behind them hardly fits.
pub(crate) const FOUND_TOOLS_MAX: usize = 25;
