//! Prompts and resources of the conformance server.

use serde_json::{Value, json};
use toolgate_wire::RpcError;
use toolgate_wire::server::{Interruption, Reply, RequestContext};

use crate::asking;
use crate::content::{PNG, image, resource, text};
use crate::fixture::{string_argument, string_param};

pub(crate) fn prompts() -> Reply {
    let argument =
        |name: &str| json!({"name": name, "description": format!("The {name} of the test"), "required": true});
    json!({"prompts": [
        {"name": "test_simple_prompt", "description": "A prompt without arguments"},
        {
            "name": "test_prompt_with_arguments",
            "description": "A prompt with two arguments",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "A prompt that carries a resource",
            "arguments": [argument("resourceUri")],
        },
        {"name": "test_prompt_with_image", "description": "A prompt that carries a picture"},
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks before it answers"},
    ]})
    .into()
}

pub(crate) async fn prompt(cx: &RequestContext) -> Result<Reply, Interruption> {
    let content = match string_param(cx, "name")?.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (string_argument(cx, "arg1")?, string_argument(cx, "arg2")?);
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = string_argument(cx, "resourceUri")?;
            vec![
                resource(&uri, "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            let question = asking::form(
                "What context should the prompt use?",
                &json!({"context": {"type": "string"}}),
                &["context"],
            );
            let answer = cx.ask("user_context", "elicitation/create", question).await?;
            vec![text(format!("Use this context: {}", asking::field(&answer, "context")))]
        }
        name => return Err(RpcError::invalid_params(format!("there is no prompt `{name}`")).into()),
    };
    let messages: Vec<Value> = content.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(json!({"messages": messages}).into())
}

pub(crate) fn resources() -> Reply {
    json!({"resources": [
        {"uri": "test://static-text", "name": "static-text", "description": "A text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "A picture", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "Can be watched", "mimeType": "text/plain"},
    ]})
    .into()
}

pub(crate) fn templates() -> Reply {
    json!({"resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Data by its id",
        "mimeType": "application/json",
    }]})
    .into()
}

pub(crate) fn read(uri: &str) -> Result<Reply, RpcError> {
    let templated = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched content."}),
        _ => {
            let id = templated.ok_or_else(|| {
                RpcError::invalid_params(format!("there is no resource `{uri}`")).with_data(json!({"uri": uri}))
            })?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Ok(json!({"contents": [content]}).into())
}
