//! A tool in the words of a provider: its name, its description and its schema as that provider accepts them.
