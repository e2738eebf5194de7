//! Tests.

use toolgate_wire::transport::http_pool::HttpPool;
use url::Url;

use super::{Discovered, discover};
use crate::auth::account::{Account, GrantKind, LoginOptions};
use crate::auth::challenge::Wants;
use crate::auth::fetch::{Fetcher, Pools};
use crate::auth::journal::Journal;
use crate::auth::loopback::{Answer, Loopback};
use crate::error::Error;
use crate::server_name::ServerName;

#[path = "discover_refusal_tests.rs"]
mod refusals;

const PATH: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OIDC: &str = "/.well-known/openid-configuration";

/// Paths and what is there.
type Pages = Vec<(&'static str, Answer)>;

/// What a good MCP server publishes, with its authorization servers.
fn resource(servers: &str) -> Answer {
    Answer::json(&format!(
        r#"{{"resource": "{{origin}}/mcp", "authorization_servers": [{servers}], "scopes_supported": ["r1", "r2"]}}"#
    ))
}

/// What a good authorization server publishes.
fn server(issuer: &str) -> Answer {
    Answer::json(&format!(
        r#"{{"issuer": "{issuer}", "authorization_endpoint": "{issuer}/a", "token_endpoint": "{issuer}/t",
            "registration_endpoint": "{issuer}/r", "code_challenge_methods_supported": ["S256"]}}"#
    ))
}

/// The same without one of its members.
fn server_without(issuer: &str, member: &str) -> Answer {
    let members = [
        ("issuer", format!(r#""{issuer}""#)),
        ("authorization_endpoint", format!(r#""{issuer}/a""#)),
        ("token_endpoint", format!(r#""{issuer}/t""#)),
        ("code_challenge_methods_supported", r#"["S256"]"#.to_owned()),
    ];
    let kept = members.iter().filter(|(name, _)| *name != member);
    Answer::json(&format!(
        "{{{}}}",
        kept.map(|(name, value)| format!("\"{name}\": {value}")).collect::<Vec<_>>().join(",")
    ))
}

fn html() -> Answer {
    Answer::text(200, "text/html", "<!doctype html><title>Hello</title>")
}

/// One run against a server with these pages.
struct Run {
    found: Result<Discovered, Error>,
    journal: Journal,
    server: Loopback,
}

impl Run {
    async fn with(pages: Pages, challenged: Option<&str>, options: LoginOptions) -> Self {
        let server = Loopback::serving(pages).await;
        let url = Url::parse(&server.fill("{origin}/mcp")).unwrap();
        let fetcher = Fetcher::for_server(pools(), &url).await;
        Self::at(server, &fetcher, challenged, options).await
    }

    async fn at(server: Loopback, fetcher: &Fetcher, challenged: Option<&str>, options: LoginOptions) -> Self {
        let fill = |text: Option<String>| text.map(|text| server.fill(&text));
        let options = LoginOptions {
            issuer: fill(options.issuer),
            authorization_url: fill(options.authorization_url),
            token_url: fill(options.token_url),
            registration_url: fill(options.registration_url),
            ..options
        };
        let url = Url::parse(&server.fill("{origin}/mcp")).unwrap();
        let account = Account { server: ServerName::new("web").unwrap(), url, options };
        let wants = Wants { resource_metadata: fill(challenged.map(str::to_owned)), ..Wants::default() };
        let journal = Journal::default();
        let found = discover(fetcher, &account, &wants, &journal).await;
        Self { found, journal, server }
    }

    /// What was found in short, or the error.
    fn short(&self) -> Result<String, String> {
        let short = |found: &Discovered| {
            let endpoint = |endpoint: &Option<String>| endpoint.clone().unwrap_or("-".to_owned());
            format!(
                "{} for {} | {} {} {}{}",
                found.issuer,
                found.resource.as_deref().unwrap_or("-"),
                endpoint(&found.server.authorization_endpoint),
                endpoint(&found.server.token_endpoint),
                endpoint(&found.server.registration_endpoint),
                if found.is_fallback { " taken for granted" } else { "" },
            )
        };
        let found = self.found.as_ref().map(short).map_err(ToString::to_string);
        found.map(|text| self.server.strip(&text)).map_err(|text| self.server.strip(&text))
    }
}

fn pools() -> Pools {
    Pools { anywhere: HttpPool::default(), public: HttpPool::default() }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn metadata_is_looked_for_in_the_order_of_the_specification() {
    let of_origin = "{origin} for {origin}/mcp | {origin}/a {origin}/t {origin}/r";
    let of_tenant = "{origin}/tenant1 for {origin}/mcp | {origin}/tenant1/a {origin}/tenant1/t {origin}/tenant1/r";
    let oauth_tenant = "/.well-known/oauth-authorization-server/tenant1";
    let oidc_tenant = "/.well-known/openid-configuration/tenant1";
    let tenant_oidc = "/tenant1/.well-known/openid-configuration";
    let custom = "/custom/metadata/location.json";
    let at_root = Answer::json(r#"{"resource": "{origin}", "authorization_servers": ["{origin}/tenant1"]}"#);
    let root_tenant = of_tenant.replace("{origin}/mcp", "{origin}");
    let cases = [
        // The four places of the conformance suite.
        (
            Some(PATH),
            vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server("{origin}"))],
            of_origin,
            vec![PATH, OAUTH],
        ),
        (None, vec![(PATH, resource(r#""{origin}""#)), (OIDC, server("{origin}"))], of_origin, vec![PATH, OAUTH, OIDC]),
        (
            None,
            vec![(ROOT, at_root), (oauth_tenant, server("{origin}/tenant1"))],
            &root_tenant,
            vec![PATH, ROOT, oauth_tenant],
        ),
        (
            Some(custom),
            vec![(custom, resource(r#""{origin}/tenant1""#)), (tenant_oidc, server("{origin}/tenant1"))],
            of_tenant,
            vec![custom, oauth_tenant, oidc_tenant, tenant_oidc],
        ),
        // A page for people at a place that nobody promised is nothing.
        (
            None,
            vec![(PATH, html()), (ROOT, resource(r#""{origin}""#)), (OAUTH, html()), (OIDC, server("{origin}"))],
            of_origin,
            vec![PATH, ROOT, OAUTH, OIDC],
        ),
        // A challenge that leads nowhere is passed over.
        (
            Some("/gone"),
            vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server("{origin}"))],
            of_origin,
            vec!["/gone", PATH, OAUTH],
        ),
        // A document of another issuer is passed over for the next place.
        (
            None,
            vec![
                (PATH, resource(r#""{origin}/tenant1""#)),
                (oauth_tenant, server("{origin}")),
                (tenant_oidc, server("{origin}/tenant1")),
            ],
            of_tenant,
            vec![PATH, oauth_tenant, oidc_tenant, tenant_oidc],
        ),
        // The next authorization server, when the first is none.
        (
            None,
            vec![(PATH, resource(r#""https://[", "{other}/gone", "{origin}""#)), (OAUTH, server("{origin}"))],
            of_origin,
            vec![
                PATH,
                "/.well-known/oauth-authorization-server/gone",
                "/.well-known/openid-configuration/gone",
                "/gone/.well-known/openid-configuration",
                OAUTH,
            ],
        ),
        // Redirects, also to another origin.
        (
            None,
            vec![
                (PATH, Answer::redirect(302, "{other}/elsewhere")),
                ("/elsewhere", resource(r#""{origin}""#)),
                (OAUTH, server("{origin}")),
            ],
            of_origin,
            vec![PATH, "/elsewhere", OAUTH],
        ),
        // An issuer that ends with a slash is compared with it.
        (
            None,
            vec![
                (PATH, resource(r#""{origin}/""#)),
                (
                    OAUTH,
                    Answer::json(
                        r#"{"issuer": "{origin}/", "authorization_endpoint": "{origin}/a", "token_endpoint": "{origin}/t",
                    "code_challenge_methods_supported": ["S256"]}"#,
                    ),
                ),
            ],
            "{origin}/ for {origin}/mcp | {origin}/a {origin}/t -",
            vec![PATH, OAUTH],
        ),
        // 2025-03-26: metadata at the origin, then nothing at all.
        (
            None,
            vec![(OAUTH, server("{origin}"))],
            "{origin} for - | {origin}/a {origin}/t {origin}/r",
            vec![PATH, ROOT, OAUTH],
        ),
        (
            None,
            vec![],
            "{origin} for - | {origin}/authorize {origin}/token {origin}/register taken for granted",
            vec![PATH, ROOT, OAUTH, OIDC],
        ),
        // A document that names nobody: the origin, if it says so.
        (None, vec![(PATH, resource("")), (OAUTH, server("{origin}"))], of_origin, vec![PATH, OAUTH]),
    ];
    for (at, (challenged, pages, expected, asked)) in cases.into_iter().enumerate() {
        let challenged = challenged.map(|path| format!("{{origin}}{path}"));
        let run = Run::with(pages, challenged.as_deref(), LoginOptions::default()).await;
        assert_eq!(run.short(), Ok(expected.to_owned()), "case {at}: {:#?}", run.journal.steps());
        let asked: Vec<String> = asked.iter().map(|path| format!("GET {path}")).collect();
        assert_eq!(run.server.asked(), asked, "case {at}");
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn settings_are_used_in_place_of_what_is_published() {
    let set = |url: &str| Some(url.to_owned());
    let good = || vec![(PATH, resource(r#""{other}", "{origin}""#)), (OAUTH, server("{origin}"))];
    let none = LoginOptions::default;
    let machine = || LoginOptions { grant: GrantKind::ClientCredentials, ..none() };
    let device = || LoginOptions { grant: GrantKind::DeviceCode, ..none() };
    let cases: Vec<(Pages, LoginOptions, Result<&str, &str>, usize)> = vec![
        // With all that is needed nothing is asked.
        (
            good(),
            LoginOptions {
                client_id: set("c"),
                authorization_url: set("{origin}/x"),
                token_url: set("{origin}/y"),
                ..none()
            },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/y -"),
            0,
        ),
        // Without a client, how one comes to be is asked at the origin of the login page, or at the issuer.
        (
            good(),
            LoginOptions { authorization_url: set("{origin}/x"), token_url: set("{origin}/y"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/y {origin}/r"),
            1,
        ),
        (
            vec![(OIDC, server_without("{origin}", "code_challenge_methods_supported"))],
            LoginOptions { authorization_url: set("{origin}/x"), token_url: set("{origin}/y"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/y -"),
            2,
        ),
        (
            vec![("/.well-known/oauth-authorization-server/t", server("{origin}/t"))],
            LoginOptions {
                authorization_url: set("{origin}/x"),
                token_url: set("{origin}/y"),
                issuer: set("{origin}/t"),
                ..none()
            },
            Ok("{origin}/t for {origin}/mcp | {origin}/x {origin}/y {origin}/t/r"),
            1,
        ),
        // Metadata of another issuer is not used.
        (
            vec![(OAUTH, server("https://other.example"))],
            LoginOptions { authorization_url: set("{origin}/x"), token_url: set("{origin}/y"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/y -"),
            2,
        ),
        (
            vec![],
            LoginOptions { authorization_url: set("{origin}/x"), token_url: set("{origin}/y"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/y -"),
            2,
        ),
        // With only the login page set, its origin is asked if the server itself names no authorization server.
        (
            vec![(OAUTH, server("{origin}"))],
            LoginOptions { authorization_url: set("{origin}/x"), ..none() },
            Ok("{origin} for - | {origin}/x {origin}/t {origin}/r"),
            3,
        ),
        (
            good(),
            LoginOptions {
                authorization_url: set("{origin}/x"),
                token_url: set("{origin}/y"),
                registration_url: set("{origin}/z"),
                issuer: set("https://me.example"),
                ..none()
            },
            Ok("https://me.example for {origin}/mcp | {origin}/x {origin}/y {origin}/z"),
            0,
        ),
        (
            good(),
            LoginOptions { token_url: set("{origin}/y"), ..machine() },
            Ok("{origin} for {origin}/mcp | - {origin}/y -"),
            0,
        ),
        (
            good(),
            LoginOptions { authorization_url: set("http://as.example/x"), token_url: set("{origin}/y"), ..none() },
            Err(
                "the settings of the login to `{origin}/mcp`: `authorization_endpoint` may not be used, it is not `https`: `http://as.example/x`",
            ),
            0,
        ),
        // Otherwise each takes the place of its own.
        (
            vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server("{origin}"))],
            LoginOptions { token_url: set("{origin}/y"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/a {origin}/y {origin}/r"),
            2,
        ),
        (
            vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server_without("{origin}", "authorization_endpoint"))],
            LoginOptions { authorization_url: set("{origin}/x"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/x {origin}/t -"),
            2,
        ),
        (
            vec![],
            LoginOptions { registration_url: set("{origin}/z"), ..none() },
            Ok("{origin} for - | {origin}/authorize {origin}/token {origin}/z taken for granted"),
            4,
        ),
        // The issuer: one of those that are listed, or another.
        (
            good(),
            LoginOptions { issuer: set("{origin}"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/a {origin}/t {origin}/r"),
            2,
        ),
        (
            vec![(PATH, resource(r#""https://as.example""#)), (OAUTH, server("{origin}"))],
            LoginOptions { issuer: set("{origin}"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/a {origin}/t {origin}/r"),
            2,
        ),
        (
            good(),
            LoginOptions { issuer: set("{origin}/"), ..none() },
            Err(
                "the metadata of the authorization server `{origin}/` cannot be used: {origin}/.well-known/oauth-authorization-server: its issuer is `{origin}`, not `{origin}/`",
            ),
            3,
        ),
        (
            vec![(OAUTH, server("{origin}"))],
            LoginOptions { issuer: set("{origin}"), ..none() },
            Ok("{origin} for {origin}/mcp | {origin}/a {origin}/t {origin}/r"),
            3,
        ),
        // Machines need less, other devices something else.
        (
            vec![
                (PATH, resource(r#""{origin}""#)),
                (OAUTH, server_without("{origin}", "code_challenge_methods_supported")),
            ],
            machine(),
            Ok("{origin} for {origin}/mcp | {origin}/a {origin}/t -"),
            2,
        ),
        (
            vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server("{origin}"))],
            device(),
            Err(
                "the metadata of the authorization server `{origin}` cannot be used: {origin}/.well-known/oauth-authorization-server: it has no `device_authorization_endpoint`",
            ),
            3,
        ),
        (
            vec![],
            device(),
            Err("`{origin}/mcp` publishes nothing about logins, and it has no `device_authorization_endpoint`"),
            4,
        ),
    ];
    for (at, (pages, options, expected, requests)) in cases.into_iter().enumerate() {
        let run = Run::with(pages, None, options).await;
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(run.short(), expected, "case {at}: {:#?}", run.journal.steps());
        assert_eq!(run.server.asked().len(), requests, "case {at}: {:?}", run.server.asked());
    }
}

#[tokio::test]
async fn what_the_server_says_of_tokens_is_kept() {
    let published = Answer::json(
        r#"{"resource": "{origin}/", "authorization_servers": ["{origin}"], "scopes_supported": ["r1", "r2"],
            "dpop_bound_access_tokens_required": true}"#,
    );
    let run = Run::with(vec![(PATH, published), (OAUTH, server("{origin}"))], None, LoginOptions::default()).await;
    let found = run.found.unwrap();
    assert_eq!(found.scopes_of_resource, ["r1", "r2"]);
    assert!(found.is_dpop_required);
    let exactly = run.server.fill("{origin}/");
    assert_eq!(found.resource, Some(exactly), "as it was published, with its slash");
}

#[tokio::test]
async fn every_request_and_every_rule_is_written_down() {
    let pages = vec![(ROOT, resource(r#""{origin}""#)), (OIDC, server("{origin}"))];
    let run = Run::with(pages, None, LoginOptions::default()).await;
    let lines: Vec<String> = run
        .journal
        .steps()
        .iter()
        .map(|step| {
            let rule = step.rule.and_then(|rule| rule.split(':').next()).unwrap_or("-");
            run.server.strip(&format!("{} | {:?} | {} | {rule}", step.what, step.outcome, step.detail))
        })
        .collect();
    let bytes = |path: &str| {
        lines.iter().find(|line| line.contains(path) && line.contains("bytes")).cloned().unwrap_or_default()
    };
    let expected = [
        format!("GET {{origin}}{PATH} | Nothing | 404 Not Found | -"),
        bytes("protected-resource |"),
        format!("check {{origin}}{ROOT} | Good | `{{origin}}/mcp` | RFC 9728 §3.3"),
        format!("GET {{origin}}{OAUTH} | Nothing | 404 Not Found | -"),
        bytes("openid-configuration |"),
        format!("check {{origin}}{OIDC} | Good | `{{origin}}` | RFC 8414 §3.3"),
        format!("check {{origin}}{OIDC} | Good | `{{origin}}/a` | RFC 6749 §3.1"),
        format!("check {{origin}}{OIDC} | Good | `{{origin}}/t` | RFC 6749 §3.2"),
        format!("check {{origin}}{OIDC} | Good | `{{origin}}/r` | RFC 7591 §3"),
        format!("check {{origin}}{OIDC} | Good | `S256` | MCP, \"Authorization Code Protection\""),
        "choose the authorization server | Good | `{origin}` | -".to_owned(),
    ];
    assert_eq!(lines, expected);
}
