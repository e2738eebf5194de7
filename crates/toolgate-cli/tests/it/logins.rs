//! Logins: what is said when one is missing, `toolgate mcp auth` and its explanation, and what works afterwards in other processes.

use serde_json::{Value, json};
use toolgate_testkit::auth_server::script::{Consent, DeviceScript, Registration};
use toolgate_testkit::{AuthScript, AuthServer};

use crate::room::{Room, sample};
use crate::visitor::{Ended, hidden, log_in, open, protected, room, run};

/// What a command says, with the addresses of this run hidden.
fn said(room: &Room, server: &AuthServer, line: &str) -> String {
    hidden(server, &room.run(line).transcript())
}

#[track_caller]
fn check(room: &Room, server: &AuthServer, line: &str, expected: &str) {
    toolgate_testkit::snapshot::assert_snapshot(&said(room, server, line), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_login_is_told_with_the_way_out() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server);
    check(
        &room,
        &server,
        "tools gated",
        "
        --- stderr
        error: MCP server gated ([SERVER]/mcp) needs a login; run `toolgate mcp auth gated`
        --- exit 5
        ",
    );
    check(
        &room,
        &server,
        "call gated__echo",
        "
        --- stderr
        error: MCP server gated ([SERVER]/mcp) needs a login; run `toolgate mcp auth gated`
        --- exit 5
        ",
    );
    let told = room.json("tools gated --json");
    assert_eq!(told["error"]["code"], 5, "{told}");
    assert_eq!(told["error"]["kind"], "login_needed", "{told}");
    assert!(server.record().requests_to("/register").is_empty(), "nothing begins without a person");
    check(
        &room,
        &server,
        "mcp auth gated",
        "
        --- stderr
        error: nobody is here to log in to gated ([SERVER]/mcp)
        hint: run `toolgate mcp auth gated` in a terminal; `--no-browser` and `--device` do without a browser here
        --- exit 5
        ",
    );
    assert_eq!(room.run("mcp auth gated --json").code(), Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_in_the_browser_of_this_machine() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server);
    let ended = run(&room, "mcp auth gated --no-browser", |url| {
        let page = open(url);
        assert_eq!(page.status, 200, "{page:?}");
        None
    });
    ended.assert(
        &server,
        "
        --- stdout
        ✓ logged in to gated (renewed by itself)
          it offers 1 tool
        --- stderr
        Open this address to log in to gated:

          [SERVER]/authorize?…

        Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:
        --- exit 0
        ",
    );
    check(
        &room,
        &server,
        "tools gated",
        "
        --- stdout
        gated  1 tool
          echo  the scripted tool echo
        --- exit 0
        ",
    );
    assert!(room.run("call gated__echo message=hello").stdout.contains("hello"));
    check(
        &room,
        &server,
        "mcp auth",
        "
        --- stdout
        SERVER  STATE      WHY
        gated   logged in  renewed by itself
        --- exit 0
        ",
    );
    let all = room.json("mcp auth --json");
    let one = &all["servers"][0];
    assert_eq!(one["server"], "gated", "{all}");
    assert_eq!((&one["loggedIn"], &one["needsLogin"]), (&json!(true), &json!(false)), "{all}");
    assert_eq!((&one["issuer"], &one["renewable"]), (&json!(server.issuer()), &json!(true)), "{all}");
    let told = format!("{}{}{all}", ended.stdout, ended.stderr);
    let secrets = server.record().secrets_seen();
    assert!(secrets.len() > 3 && !secrets.iter().any(|secret| told.contains(secret)), "{told}");
}

/// What somebody pastes whose browser runs elsewhere: the page that could not be shown there.
fn pasted(url: &str) -> String {
    let page = open(url);
    let query = page.url.split_once('?').unwrap().1;
    let back = url.split('&').find_map(|pair| pair.strip_prefix("redirect_uri=")).unwrap();
    let back = back.replace("%3A", ":").replace("%2F", "/");
    format!("{back}?{query}")
}

/// A server whose browser is sent where nobody listens for it.
fn elsewhere() -> AuthScript {
    AuthScript::new().issuer(|issuer| issuer.callback.to = Some("$ORIGIN/elsewhere".to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_in_a_browser_elsewhere() {
    let server = protected(elsewhere()).await;
    let room = room(&server);
    let ended = run(&room, "mcp auth gated --no-browser --json", |url| Some(pasted(url)));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&told["server"], &told["loggedIn"], &told["tools"]), (&json!("gated"), &json!(true), &json!(1)));
    assert_eq!(room.run("tools gated").code(), Some(0));
}

/// What is typed, given the address that is shown.
type Paste = fn(&str) -> String;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pasted_is_checked() {
    let server = protected(elsewhere()).await;
    let room = room(&server);
    let cases: [(&str, Paste); 2] = [
        ("nonsense, then the address", |url| format!("\nwhat is this\n{}", pasted(url))),
        ("of another login", |url| pasted(url).replace("state=", "state=x")),
    ];
    let mut told = String::new();
    for (what, paste) in cases {
        let Ended { code, stdout, stderr } = run(&room, "mcp auth gated --no-browser", |url| Some(paste(url)));
        told.push_str(&format!("{what}: {code:?}\n{stdout}{stderr}"));
    }
    toolgate_testkit::snapshot::assert_snapshot(
        &hidden(&server, &told),
        "
        nonsense, then the address: Some(0)
        ✓ logged in to gated (renewed by itself)
          it offers 1 tool
        Open this address to log in to gated:

          [SERVER]/authorize?…

        Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:
        warning: gated: that is neither the address that the browser ended at nor a code
        Open this address to log in to gated:

          [SERVER]/authorize?…

        Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:
        of another login: Some(5)
        Open this address to log in to gated:

          [SERVER]/authorize?…

        Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:
        error: the login to gated did not work: the answer belongs to another login: its `state` is not the one that was sent
          rule: RFC 6749 §10.12: `state` must be the one that was sent
        hint: `toolgate mcp auth explain gated` shows every step
        ",
    );
    assert_eq!(server.record().tokens_issued().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_says_no() {
    let server = protected(AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied)).await;
    let ended = run(&room(&server), "mcp auth gated --no-browser", |url| {
        open(url);
        None
    });
    ended.assert(
        &server,
        "
        --- stdout
        --- stderr
        Open this address to log in to gated:

          [SERVER]/authorize?…

        Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:
        error: the login to gated did not work: the login was denied: the person said no
          rule: RFC 6749 §4.1.2.1: the authorization server refused
        hint: `toolgate mcp auth explain gated` shows every step
        --- exit 5
        ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_on_another_device() {
    let server = protected(AuthScript::new().issuer(|issuer| issuer.device = Some(DeviceScript::default()))).await;
    let room = room(&server);
    let ended = run(&room, "mcp auth gated --device", |_| None);
    let code = server.record().requests_to("/device").len();
    assert!(code <= 1, "asked once for a code");
    let shown: String =
        ended
            .stderr
            .lines()
            .map(|line| {
                if line.contains("enter the code") {
                    "and enter the code  …\n".to_owned()
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
    Ended { stderr: shown, ..ended }.assert(
        &server,
        "
        --- stdout
        ✓ logged in to gated (renewed by itself)
          it offers 1 tool
        --- stderr
        Open this address, on any device, to log in to gated:

          [SERVER]/device

        and enter the code  …

        Waiting until that is done (Ctrl-C gives up).
        --- exit 0
        ",
    );
    assert_eq!(room.run("tools gated").code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_for_can_be_said() {
    let server = protected(AuthScript::new()).await;
    let ended = run(&room(&server), "mcp auth gated --no-browser --scope read,write --scope admin", |url| {
        open(url);
        None
    });
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let asked = server.record().requests_to("/authorize");
    assert_eq!(asked[0].parameter("scope").as_deref(), Some("read write admin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_needs_nobody() {
    let server = protected(AuthScript::new().client("nightly", Some("s3cret"))).await;
    let oauth = json!({"grantType": "client_credentials", "clientId": "nightly", "clientSecret": "${env:NIGHTLY}"});
    let mut room = room(&server).with("gated", "oauth", oauth);
    room.world.set_variable("NIGHTLY", "s3cret");
    for line in ["tools gated", "mcp auth gated", "mcp auth", "mcp auth explain gated"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(0), "{line}: {}", output.transcript());
        assert!(!output.transcript().contains("s3cret"), "{line}: {}", output.transcript());
    }
    room.world.set_variable("NIGHTLY", "wrong");
    assert_eq!(room.run("mcp logout gated").code(), Some(0));
    let output = room.run("tools gated");
    assert_eq!(output.code(), Some(5), "{}", output.transcript());
    assert!(output.stderr.contains("invalid_client"), "{}", output.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_logged_in_to() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server)
        .server("local", &sample("local"))
        .entry("known", json!({"url": server.mcp_url(), "headers": {"Authorization": "Bearer x"}}));
    let told: String = ["mcp auth unknown", "mcp auth local --no-browser", "mcp auth known --no-browser"]
        .iter()
        .map(|line| format!("$ {line}\n{}", said(&room, &server, line)))
        .collect();
    toolgate_testkit::snapshot::assert_snapshot(
        &told,
        "
        $ mcp auth unknown
        --- stderr
        error: there is no server `unknown`
        hint: did you mean `known`?
        --- exit 7
        $ mcp auth local --no-browser
        --- stderr
        error: cannot log in to local: only a server with a `url` can be logged in to
        --- exit 2
        $ mcp auth known --no-browser
        --- stderr
        error: cannot log in to known: the settings say who we are to this server, so there is nothing to log in to
        hint: remove its `Authorization` header, `headersHelper` or `authProviderType` first
        --- exit 2
        ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overview_of_every_fate() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server)
        .server("local", &sample("local"))
        .entry("down", json!({"url": "http://127.0.0.1:1/mcp", "type": "http"}));
    check(
        &room,
        &server,
        "mcp auth",
        "
        --- stdout
        SERVER  STATE          WHY
        down    not reached    connect to http://127.0.0.1:1/mcp: tcp connect error: Connection refused (os error 111)
        gated   needs a login  the server asks for a login (HTTP 401)

        log in with `toolgate mcp auth gated`
        --- exit 0
        ",
    );
    let none = Room::new().server("local", &sample("local"));
    none.check(
        "mcp auth",
        "
        --- stdout
        no server with a `url` is configured, so there is nothing to log in to
        --- exit 0
        ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_of_a_login_is_explained() {
    let server =
        protected(AuthScript::new().protection(|protection| protection.scopes = vec!["read".to_owned()])).await;
    check(
        &room(&server),
        &server,
        "mcp auth explain gated",
        "
        --- stdout
        gated
          – read the kept login: nobody has logged in
          ✓ POST [SERVER]/mcp: HTTP 401; the challenge points to [SERVER]/.well-known/oauth-protected-resource/mcp
              RFC 9728 §5.1: `resource_metadata` says where to look
          ✓ GET [SERVER]/.well-known/oauth-protected-resource/mcp: 200 OK, [SIZE]
          ✓ check [SERVER]/.well-known/oauth-protected-resource/mcp: `[SERVER]/mcp`
              RFC 9728 §3.3: `resource` is the server that is used
          ✓ GET [SERVER]/.well-known/oauth-authorization-server: 200 OK, [SIZE]
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]`
              RFC 8414 §3.3: `issuer` is exactly the one whose metadata was asked for
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]/authorize`
              RFC 6749 §3.1: `authorization_endpoint` is an `https` URL without fragment
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]/token`
              RFC 6749 §3.2: `token_endpoint` is an `https` URL without fragment
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]/register`
              RFC 7591 §3: `registration_endpoint` is an `https` URL
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `S256`
              MCP, \"Authorization Code Protection\": `code_challenge_methods_supported` has `S256`
          ✓ choose the authorization server: `[SERVER]`
          ✓ choose who we are: a client is registered at [SERVER]/register
              MCP 2026-07-28, \"Client Registration Approaches\": settings, then a published document, then registration
          ✓ choose what to ask for: `read`
              MCP 2026-07-28, \"Scope Selection Strategy\": the challenge, then the settings, then the metadata
          ✓ choose who logs in: a person, in a browser
        --- exit 0
        ",
    );
    let told = room(&server).json("mcp auth explain gated --json");
    assert_eq!(told["server"], "gated");
    assert!(told["steps"].as_array().unwrap().iter().all(|step| step["outcome"] != "failed"), "{told}");
    assert!(server.record().tokens_issued().is_empty(), "nobody was logged in");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rule_that_stops_a_login_is_named() {
    let liar = AuthScript::new().says("issuer", json!("https://evil.example"));
    let closed = AuthScript::new().issuer(|issuer| issuer.registration = Registration::Absent);
    let mut told = String::new();
    for script in [liar, closed] {
        let server = protected(script).await;
        told.push_str(&said(&room(&server), &server, "mcp auth explain gated"));
    }
    toolgate_testkit::snapshot::assert_snapshot(
        &told,
        "
        --- stdout
        gated
          – read the kept login: nobody has logged in
          ✓ POST [SERVER]/mcp: HTTP 401; the challenge points to [SERVER]/.well-known/oauth-protected-resource/mcp
              RFC 9728 §5.1: `resource_metadata` says where to look
          ✓ GET [SERVER]/.well-known/oauth-protected-resource/mcp: 200 OK, [SIZE]
          ✓ check [SERVER]/.well-known/oauth-protected-resource/mcp: `[SERVER]/mcp`
              RFC 9728 §3.3: `resource` is the server that is used
          ✓ GET [SERVER]/.well-known/oauth-authorization-server: 200 OK, [SIZE]
          ✗ check [SERVER]/.well-known/oauth-authorization-server: its issuer is `https://evil.example`, not `[SERVER]`
              RFC 8414 §3.3: `issuer` is exactly the one whose metadata was asked for
          – GET [SERVER]/.well-known/openid-configuration: 404 Not Found
        --- exit 9
        --- stdout
        gated
          – read the kept login: nobody has logged in
          ✓ POST [SERVER]/mcp: HTTP 401; the challenge points to [SERVER]/.well-known/oauth-protected-resource/mcp
              RFC 9728 §5.1: `resource_metadata` says where to look
          ✓ GET [SERVER]/.well-known/oauth-protected-resource/mcp: 200 OK, [SIZE]
          ✓ check [SERVER]/.well-known/oauth-protected-resource/mcp: `[SERVER]/mcp`
              RFC 9728 §3.3: `resource` is the server that is used
          ✓ GET [SERVER]/.well-known/oauth-authorization-server: 200 OK, [SIZE]
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]`
              RFC 8414 §3.3: `issuer` is exactly the one whose metadata was asked for
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]/authorize`
              RFC 6749 §3.1: `authorization_endpoint` is an `https` URL without fragment
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `[SERVER]/token`
              RFC 6749 §3.2: `token_endpoint` is an `https` URL without fragment
          ✓ check [SERVER]/.well-known/oauth-authorization-server: `S256`
              MCP, \"Authorization Code Protection\": `code_challenge_methods_supported` has `S256`
          ✓ choose the authorization server: `[SERVER]`
          ✗ choose who we are: the authorization server [SERVER] registers no clients by itself
              MCP 2026-07-28, \"Client Registration Approaches\": settings, then a published document, then registration
          ✓ choose what to ask for: nothing in particular
              MCP 2026-07-28, \"Scope Selection Strategy\": the challenge, then the settings, then the metadata
          ✓ choose who logs in: a person, in a browser
        --- exit 9
        ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_out_forgets() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server).entry("other", json!({"url": format!("{}?x=1", server.mcp_url()), "type": "http"}));
    log_in(&room, "gated");
    log_in(&room, "other");
    assert_eq!(room.remembered(), 2);
    let room = room.without_entry("other");
    let mut told = String::new();
    for line in [
        "mcp logout gated",
        "mcp logout gated",
        "mcp logout",
        "mcp logout --all --json",
        "mcp logout --all",
        "mcp logout unknown",
    ] {
        told.push_str(&format!("$ {line}\n{}", said(&room, &server, line)));
    }
    toolgate_testkit::snapshot::assert_snapshot(
        &told,
        "
        $ mcp logout gated
        --- stdout
        logged out of gated
        --- exit 0
        $ mcp logout gated
        --- stdout
        there is no login to forget
        --- exit 0
        $ mcp logout
        --- stderr
        error: the following required arguments were not provided:
          <SERVER>...

        Usage: toolgate mcp logout <SERVER>...

        For more information, try '--help'.
        --- exit 2
        $ mcp logout --all --json
        --- stdout
        {\"loggedOut\":[\"other\"]}
        --- exit 0
        $ mcp logout --all
        --- stdout
        there is no login to forget
        --- exit 0
        $ mcp logout unknown
        --- stdout
        there is no login to forget
        --- exit 0
        ",
    );
    assert_eq!(room.remembered(), 0, "also of a server that is no longer there");
    assert_eq!(room.run("tools gated").code(), Some(5));
}
