//! The servers of the corpus, how each is started, and what it offers. None of them needs a network, an account or a database to list its
//! tools; what looks like a key is none.

use std::path::{Path, PathBuf};

use toolgate::wire::transport::child::ChildConfig;

/// Where a server is installed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Home {
    /// With the npm packages that other tests use as well.
    Partners,
    /// With the npm packages of the corpus.
    Corpus,
    /// With the Python servers that other tests use as well.
    PythonServers,
    /// With the Python packages of the corpus.
    PythonCorpus,
}

/// One server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    home: Home,
    pub(crate) package: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// How many tools it lists in the pinned version.
    pub(crate) tools: usize,
}

const fn server(home: Home, package: &'static str, program: &'static str, tools: usize) -> Server {
    Server { home, package, program, args: &[], env: &[], tools }
}

/// All of them.
pub(crate) const SERVERS: [Server; 40] = [
    server(Home::Partners, "@modelcontextprotocol/server-everything", "dist/index.js", 13).with_args(&["stdio"]),
    server(Home::Partners, "@modelcontextprotocol/server-filesystem", "dist/index.js", 14).with_args(&["."]),
    server(Home::Partners, "@modelcontextprotocol/server-memory", "dist/index.js", 9),
    server(Home::Corpus, "@antv/mcp-server-chart", "build/index.js", 27),
    server(Home::Corpus, "@brave/brave-search-mcp-server", "dist/index.js", 8).with_env(&[("BRAVE_API_KEY", "x")]),
    server(Home::Corpus, "@browsermcp/mcp", "dist/index.js", 12),
    server(Home::Corpus, "@circleci/mcp-server-circleci", "dist/index.js", 13).with_env(&[("CIRCLECI_TOKEN", "x")]),
    server(Home::Corpus, "@cyanheads/git-mcp-server", "dist/index.js", 28),
    server(Home::Corpus, "@hubspot/mcp-server", "dist/index.js", 21).with_env(&[("PRIVATE_APP_ACCESS_TOKEN", "x")]),
    server(Home::Corpus, "@launchdarkly/mcp-server", "bin/mcp-server.js", 20).with_args(&["start", "--api-key", "x"]),
    server(Home::Corpus, "@modelcontextprotocol/server-brave-search", "dist/index.js", 2)
        .with_env(&[("BRAVE_API_KEY", "x")]),
    server(Home::Corpus, "@modelcontextprotocol/server-github", "dist/index.js", 26)
        .with_env(&[("GITHUB_PERSONAL_ACCESS_TOKEN", "x")]),
    server(Home::Corpus, "@modelcontextprotocol/server-gitlab", "dist/index.js", 9)
        .with_env(&[("GITLAB_PERSONAL_ACCESS_TOKEN", "x")]),
    server(Home::Corpus, "@modelcontextprotocol/server-google-maps", "dist/index.js", 7)
        .with_env(&[("GOOGLE_MAPS_API_KEY", "x")]),
    server(Home::Corpus, "@modelcontextprotocol/server-postgres", "dist/index.js", 1)
        .with_args(&["postgresql://localhost/x"]),
    server(Home::Corpus, "@modelcontextprotocol/server-sequential-thinking", "dist/index.js", 1),
    server(Home::Corpus, "@modelcontextprotocol/server-slack", "dist/index.js", 8)
        .with_env(&[("SLACK_BOT_TOKEN", "x"), ("SLACK_TEAM_ID", "x")]),
    server(Home::Corpus, "@notionhq/notion-mcp-server", "bin/cli.mjs", 24).with_env(&[("NOTION_TOKEN", "x")]),
    server(Home::Corpus, "@perplexity-ai/mcp-server", "dist/index.js", 4).with_env(&[("PERPLEXITY_API_KEY", "x")]),
    server(Home::Corpus, "@pinecone-database/mcp", "dist/index.js", 9).with_env(&[("PINECONE_API_KEY", "x")]),
    server(Home::Corpus, "@playwright/mcp", "cli.js", 25),
    server(Home::Corpus, "@translated/lara-mcp", "dist/index.js", 22)
        .with_env(&[("LARA_ACCESS_KEY_ID", "x"), ("LARA_ACCESS_KEY_SECRET", "x")]),
    server(Home::Corpus, "@upstash/context7-mcp", "dist/index.js", 2),
    server(Home::Corpus, "@zereight/mcp-gitlab", "build/index.js", 118)
        .with_env(&[("GITLAB_PERSONAL_ACCESS_TOKEN", "x"), ("GITLAB_API_URL", "https://gitlab.example.com/api/v4")]),
    server(Home::Corpus, "airtable-mcp-server", "dist/main.js", 16).with_env(&[("AIRTABLE_API_KEY", "pat.x")]),
    server(Home::Corpus, "chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js", 32),
    server(Home::Corpus, "exa-mcp-server", "dist/stdio.cjs", 2).with_env(&[("EXA_API_KEY", "x")]),
    server(Home::Corpus, "figma-developer-mcp", "dist/bin.js", 2)
        .with_args(&["--stdio"])
        .with_env(&[("FIGMA_API_KEY", "x")]),
    server(Home::Corpus, "firecrawl-mcp", "dist/index.js", 29).with_env(&[("FIRECRAWL_API_KEY", "x")]),
    server(Home::Corpus, "tavily-mcp", "build/index.js", 5).with_env(&[("TAVILY_API_KEY", "x")]),
    server(Home::PythonServers, "mcp-server-time", "mcp-server-time", 2),
    server(Home::PythonServers, "mcp-server-git", "mcp-server-git", 12),
    server(Home::PythonCorpus, "blender-mcp", "blender-mcp", 9),
    server(Home::PythonCorpus, "excel-mcp-server", "excel-mcp-server", 25).with_args(&["stdio"]),
    server(Home::PythonCorpus, "mcp-obsidian", "mcp-obsidian", 15).with_env(&[("OBSIDIAN_API_KEY", "x")]),
    server(Home::PythonCorpus, "mcp-server-calculator", "mcp-server-calculator", 1),
    server(Home::PythonCorpus, "mcp-server-sqlite", "mcp-server-sqlite", 6).with_args(&["--db-path", "data.db"]),
    server(Home::PythonCorpus, "mcp-shell-server", "mcp-shell-server", 1).with_env(&[("ALLOW_COMMANDS", "ls")]),
    server(Home::PythonCorpus, "mcp-text-editor", "mcp-text-editor", 2),
    server(Home::PythonCorpus, "mysql-mcp-server", "mysql_mcp_server", 3).with_env(&[
        ("MYSQL_USER", "x"),
        ("MYSQL_PASSWORD", "x"),
        ("MYSQL_DATABASE", "x"),
    ]),
];

impl Server {
    const fn with_args(mut self, args: &'static [&'static str]) -> Self {
        self.args = args;
        self
    }

    const fn with_env(mut self, env: &'static [(&'static str, &'static str)]) -> Self {
        self.env = env;
        self
    }

    /// How it is started, in a folder of its own.
    pub(crate) fn command(&self, folder: &Path) -> ChildConfig {
        let mut config = match self.home {
            Home::Partners => self.on_node("node"),
            Home::Corpus => self.on_node("corpus"),
            Home::PythonServers => ChildConfig::new(installed("python/servers/bin").join(self.program)),
            Home::PythonCorpus => ChildConfig::new(installed("python/corpus/bin").join(self.program)),
        };
        config.args.extend(self.args.iter().map(Into::into));
        config.env = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
        config.env.push(("HOME".into(), folder.into()));
        config.env.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        config.cwd = Some(folder.to_owned());
        config
    }

    fn on_node(&self, folder: &str) -> ChildConfig {
        let mut config = ChildConfig::new(installed("node/bin/node"));
        config.args = vec![installed(&format!("{folder}/node_modules/{}", self.package)).join(self.program).into()];
        config
    }
}

/// Something that `interop/install` puts in place. A test without its partner fails: skipping it would prove nothing.
fn installed(path: &str) -> PathBuf {
    let chosen = std::env::vars_os().find(|(name, _)| name == "TOOLGATE_PARTNERS").map(|(_, path)| PathBuf::from(path));
    let repository =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there");
    let installed = chosen.unwrap_or_else(|| repository.join("target/partners")).join(path);
    assert!(installed.exists(), "the partner {} is not installed; run `interop/install` first", installed.display());
    installed
}
