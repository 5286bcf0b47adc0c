//! The AsyncAPI 3.0 document of an application: the public events that it sends, made from the descriptors alone.
//!
//! <https://www.asyncapi.com/docs/reference/specification/v3.0.0>

use es_catalog::Catalog;
use es_command::publication::PublicEventDescriptor;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The version of the specification that the document follows.
const ASYNCAPI: &str = "3.0.0";
/// The name of the only channel.
const CHANNEL: &str = "publicEvents";
const CONTENT_TYPE: &str = "application/cloudevents+json";

/// The document of the application of this name.
#[doc(hidden)]
#[must_use]
pub fn document(name: &str, catalog: &Catalog) -> Value {
    // Draft 7 is the JSON Schema of AsyncAPI.
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.for_serialize().into_generator();
    let (mut operations, mut channel, mut messages) = (Map::new(), Map::new(), Map::new());
    for event in catalog.public_events() {
        let event_type = event.event_type;
        let data = (event.schema)(&mut generator).to_value();
        let reference = data.get("$ref").and_then(Value::as_str);
        let component = reference.and_then(|path| path.rsplit('/').next());
        let own = component.and_then(|component| generator.definitions().get(component));
        let description = own.and_then(|schema| schema.get("description")).cloned();
        messages.insert(event_type.to_owned(), message(event, description, data));
        let message_path = format!("#/components/messages/{event_type}");
        channel.insert(event_type.to_owned(), json!({ "$ref": message_path }));
        operations.insert(event_type.to_owned(), operation(event_type));
    }
    json!({
        "asyncapi": ASYNCAPI,
        "info": { "title": name, "version": catalog.version() },
        "defaultContentType": CONTENT_TYPE,
        "channels": {
            CHANNEL: {
                // The settings of a sink say where its events go.
                "address": null,
                "description": "The public events, delivered at least once and in order for each subject. An event that is delivered again has the same id.",
                "messages": channel,
            },
        },
        "operations": operations,
        "components": { "messages": messages, "schemas": generator.take_definitions(true) },
    })
}

/// Returns the operation that sends an event. The specification sees it from the application.
fn operation(event_type: &str) -> Value {
    json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{CHANNEL}") },
        "messages": [{ "$ref": format!("#/channels/{CHANNEL}/messages/{event_type}") }],
    })
}

/// Returns the message with an event: a CloudEvent 1.0 in structured mode.
fn message(event: &PublicEventDescriptor, description: Option<Value>, data: Value) -> Value {
    let mut message = json!({
        "name": event.event_type,
        "contentType": CONTENT_TYPE,
        "payload": {
            "type": "object",
            "required": ["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"],
            "properties": {
                "specversion": { "type": "string", "const": "1.0" },
                "id": { "type": "string", "minLength": 1, "description": "The same in each delivery, and unique within the source." },
                "source": { "type": "string", "minLength": 1, "format": "uri-reference" },
                "type": { "type": "string", "const": event.event_type },
                "subject": { "type": "string", "minLength": 1, "description": "The events of a subject are delivered in order." },
                "time": { "type": "string", "format": "date-time", "description": "When the event was recorded." },
                "datacontenttype": { "type": "string", "const": "application/json" },
                "occurredat": { "type": "string", "format": "date-time", "description": "When it happened, if that was before it was recorded." },
                "traceparent": { "type": "string", "description": "The trace, as in W3C Trace Context." },
                "tracestate": { "type": "string" },
                "data": data,
            },
        },
    });
    if let (Some(description), Value::Object(members)) = (description, &mut message) {
        members.insert("description".to_owned(), description);
    }
    message
}
