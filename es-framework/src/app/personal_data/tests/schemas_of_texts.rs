//! The schemas that a program without the validator applies.

use super::{candidate, party};
use crate::{
    event::{EventCandidate, EventType},
    store::{EventLog as _, EventSchema, StoreCatalog as _, memory::MemoryStore},
};

/// The schemas of the framework itself only fix texts, so a program without the validator applies them.
#[tokio::test]
async fn a_program_without_the_validator_applies_schemas_that_fix_texts_and_refuses_others() {
    let catalog = MemoryStore::new();
    let register = async |event_type: &'static str, schema: &str| {
        let schema = EventSchema::parse(schema).unwrap();
        let registered = catalog.register_event_schema(EventType::declared(event_type), schema);
        registered.await.map_err(|error| error.to_string())
    };
    for schema in [
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{"name":{"type":"string"}}}"#,
        r#"{"type":"object","properties":{"name":{"const":7}}}"#,
        r#"{"type":"object","properties":{"name":{"const":"ada","title":"a name"}}}"#,
        r#"{"type":"object","properties":{},"required":["name"]}"#,
        r#"{"type":"array","properties":{}}"#,
        r#"{"const":"ada"}"#,
    ] {
        let refused = register("com.example.FoodServedEvent", schema).await;
        assert!(
            refused.unwrap_err().contains("the feature `schemas`"),
            "{schema}"
        );
    }
    let schema = r#"{"type":"object","properties":{"payload":{"type":"object","properties":{"host":{"const":"ada"}}}}}"#;
    register("com.example.DoorOpenedEvent", schema)
        .await
        .unwrap();
    let append = async |data: &str| {
        let opened = EventCandidate {
            event_type: EventType::declared("com.example.DoorOpenedEvent"),
            data: serde_json::from_str(data).unwrap(),
            ..candidate(&party())
        };
        catalog.append(vec![opened], Vec::new()).await
    };
    for data in [
        "{}",
        r#"{"payload":{"guest":1}}"#,
        r#"{"payload":{"host":"ada"}}"#,
    ] {
        assert!(append(data).await.is_ok(), "{data}");
    }
    for (data, place) in [
        (r#"{"payload":{"host":"eve"}}"#, "at /payload/host"),
        (r#"{"payload":{"host":null}}"#, "at /payload/host"),
        (r#"{"payload":[]}"#, "at /payload"),
    ] {
        let refused = append(data).await.unwrap_err().to_string();
        assert!(refused.ends_with(place), "{refused}");
    }
}
