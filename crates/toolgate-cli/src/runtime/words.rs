//! Which command was typed, as far as that can be seen without the grammar: enough to know whether the runtime is asked. It reads the words
//! with the grammar, and hands back what is not for it.

/// Commands that the runtime runs.
const SHARED: [&str; 6] = ["call", "tools", "prompts", "prompt", "resources", "read"];

/// Options of every command that stand alone.
const FLAGS: [&str; 8] = ["--yolo", "-y", "--trust-folder", "--json", "--headless", "--yes", "--no-color", "--debug"];

/// Whether the runtime may be asked to run these words, the first of which is the program's name.
pub(crate) fn is_shared<'w>(words: impl Iterator<Item = &'w str> + Clone) -> bool {
    // The wire is shown by whoever has it, and that is not one of many who share it.
    let shows_wire = |word: &str| matches!(word, "--debug" | "--log-file") || word.starts_with("--log-file=");
    let is_shown = words.clone().take_while(|word| *word != "--").any(shows_wire);
    !is_shown && command(words.skip(1)).is_some_and(|command| SHARED.contains(&command))
}

fn command<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            return Some(word);
        }
        if !FLAGS.contains(&word) && !word.contains('=') {
            words.next()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{FLAGS, SHARED, is_shared};
    use crate::args::Cli;

    #[test]
    fn words_are_those_of_the_grammar() {
        let grammar = Cli::command();
        let takes_none = |argument: &&clap::Arg| !argument.get_action().takes_values();
        let mut flags: Vec<String> = grammar
            .get_arguments()
            .filter(takes_none)
            .flat_map(|argument| {
                let short = argument.get_short().map(|short| format!("-{short}"));
                argument.get_long().map(|long| format!("--{long}")).into_iter().chain(short)
            })
            .filter(|flag| !["--help", "-h", "--version", "-V"].contains(&flag.as_str()))
            .collect();
        let mut known = FLAGS.map(ToOwned::to_owned).to_vec();
        flags.sort();
        known.sort();
        assert_eq!(known, flags);
        assert!(SHARED.iter().all(|name| grammar.find_subcommand(name).is_some()));
    }

    #[test]
    fn commands_are_found_behind_options() {
        let cases = [
            ("toolgate call echo", true),
            ("toolgate --json --config x tools", true),
            ("toolgate --config=x --server s read a:b", true),
            ("toolgate call echo -- --debug", true),
            ("toolgate call echo --debug", false),
            ("toolgate -y call echo", true),
            ("toolgate call echo --log-file x", false),
            ("toolgate --log-file=x call echo", false),
            ("toolgate call echo -- --log-file x", true),
            ("toolgate --config call mcp list", false),
            ("toolgate mcp add call", false),
            ("toolgate", false),
            ("toolgate --config", false),
            ("toolgate --version", false),
            ("toolgate up", false),
        ];
        for (line, expected) in cases {
            assert_eq!(is_shared(line.split(' ')), expected, "{line}");
        }
    }
}
