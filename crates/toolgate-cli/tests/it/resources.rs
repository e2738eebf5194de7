//! `toolgate resources` and `toolgate read`.

use serde_json::json;
use toolgate_testkit::{Behaviour, ResourceScript, Script};

use crate::room::{Room, sample};

fn library() -> Script {
    let image = json!({"contents": [{"uri": "pics://logo", "mimeType": "image/png", "blob": "iVBORw0KGgo="}]});
    Script::new("library")
        .resource(ResourceScript::new("pics://logo", Behaviour::Reply(image)))
        .resource(ResourceScript::text("docs://start", "Another beginning."))
        .resource(ResourceScript::text("docs://escape", "\u{1b}[2Jcleared"))
}

#[test]
fn resources_are_listed_with_their_templates() {
    let room = Room::new().server("one", &sample("one")).server("library", &library());
    // The order of the blocks is that of arrival on a machine that is busy.
    let all = room.run("resources").stdout;
    assert!(all.contains("library  3 resources\n") && all.contains("one  1 resource, 1 template\n"), "{all}");
    room.check(
        "resources one",
        "
            --- stdout
            one  1 resource, 1 template
              docs://start          docs://start
              docs://page/{number}  page [text/plain]
            --- exit 0
            ",
    );
    room.check(
        "resources one --json",
        r#"
            --- stdout
            {"resources":[{"server":"one","uri":"docs://start","name":"docs://start","title":null,"description":null,"mimeType":null,"size":null}],"templates":[{"server":"one","uriTemplate":"docs://page/{number}","name":"page","title":null,"description":null,"mimeType":"text/plain"}],"quarantined":[],"fromMemory":["one"],"unavailable":[]}
            --- exit 0
            "#,
    );
    room.check(
        "resources workspace",
        "
            --- stderr
            there are no resources
            --- exit 0
            ",
    );
}

#[test]
fn a_resource_is_read_from_the_server_that_lists_it() {
    let room = Room::new().server("one", &sample("one")).server("library", &library());
    room.check(
        "read docs://start",
        "
            --- stdout
            Another beginning.
            --- exit 0
            ",
    );
    room.check(
        "read library:docs://start",
        "
            --- stdout
            Another beginning.
            --- exit 0
            ",
    );
    room.check(
        "read docs://start --server library --json",
        r#"
            --- stdout
            {"server":"library","uri":"docs://start","contents":[{"uri":"docs://start","mimeType":"text/plain","text":"Another beginning."}]}
            --- exit 0
            "#,
    );
    room.check(
        "read pics://logo",
        "
            --- stdout
            [Binary data: image/png, 8 bytes, pics://logo]
            --- exit 0
            ",
    );
    room.check(
        "read docs://escape",
        r#"
            --- stdout
            \e[2Jcleared
            --- exit 0
            "#,
    );
    room.check(
        "read docs://page/7",
        "
            --- stderr
            error: resource docs://page/7: `resources/read`: there is no `docs://page/7`
            --- exit 7
            ",
    );
    room.check(
        "read nowhere://at/all",
        "
            --- stderr
            error: no server lists the resource `nowhere://at/all` or has a template for it
            --- exit 7
            ",
    );
    room.check(
        "read nowhere://at/all --server one",
        "
            --- stderr
            error: resource nowhere://at/all: `resources/read`: there is no `nowhere://at/all`
            --- exit 7
            ",
    );
}
