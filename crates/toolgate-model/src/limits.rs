//! Every bound on what comes from models and goes to them, the unit at the end of the name and the reason beside it.

/// Requests that one input of the person may lead to when the settings name no number: a long piece of work needs some dozens.
pub const TURNS_DEFAULT_COUNT: u32 = 50;

/// Calls of tools in one answer; the rest are told to come again. Models that ask for more have lost their way.
pub const CALLS_PER_ANSWER_MAX: usize = 64;

/// Calls of one answer that are under way at once, over all servers. Each server has its own limit besides.
pub const CALLS_AT_ONCE_MAX: usize = 16;

/// Text, thoughts and arguments of one answer: many times what the longest models give.
pub const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Calls of one answer that are read at all: each needs a result in what the model is told next.
pub const CALLS_READ_MAX: usize = 1_024;

/// One answer on its way, with all that stands around its words: some hundred bytes for each token of the longest.
pub const STREAM_BYTES_MAX: usize = 128 * 1024 * 1024;

/// How often a request is made again that failed for a reason that passes.
pub const RETRIES_MAX: u32 = 5;

/// How long is waited before the second attempt; twice as long before each further one.
pub const RETRY_FIRST_MS: u64 = 1_000;

/// Longest wait before another attempt when the provider names none.
pub const RETRY_WAIT_MS_MAX: u64 = 30_000;

/// Longest wait that a provider may ask for; more is a failure, since nobody sits that long in front of a terminal.
pub const RETRY_AFTER_MS_MAX: u64 = 120_000;

/// How long a provider may take to begin an answer: models that think first are silent for minutes.
pub const HEAD_SILENCE_MS: u64 = 600_000;

/// How long a provider may be silent within an answer.
pub const STREAM_SILENCE_MS: u64 = 300_000;

/// How long connecting to a provider may take.
pub const CONNECT_MS: u64 = 30_000;

/// What is repeated of what a provider said about a failure.
pub const COMPLAINT_CHARS_MAX: usize = 600;

/// Instructions of one server that a model is told; they are in every request.
pub const INSTRUCTIONS_CHARS_MAX: usize = 4_000;

/// The same of all servers together.
pub const ALL_INSTRUCTIONS_CHARS_MAX: usize = 24_000;

/// What a model reads of a kept result at once, unless it asks for less: as much as it gets of a fresh one.
pub const READ_RESULT_BYTES: usize = 20_000;

/// The most that a model reads of a kept result at once.
pub const READ_RESULT_BYTES_MAX: usize = 40_000;

/// Places of a text in a kept result that are shown at once.
pub const READ_RESULT_MATCHES_MAX: usize = 20;

/// What is repeated of arguments that could not be read.
pub const BROKEN_ARGUMENTS_CHARS_MAX: usize = 400;

/// Arguments that are shown beside a call; above that only the names of its parameters are.
pub const EXPLANATION_CHARS_MAX: usize = 500;

/// Names of parameters that are shown in place of long arguments.
pub const EXPLANATION_NAMES_MAX: usize = 5;
