//! Whether the secondary database answers a query, and how far its read models have come.

use serde_json::{Value, json};

use super::Component;
use crate::projection::{Database, Positions, Progress};

pub(super) async fn check(database: &Database, positions: &Positions) -> Component {
    let details = |size: Option<u64>, error: Value| {
        json!({
            "database": database.kind(),
            "sizeInBytes": size,
            "error": error,
            "readModels": read_models(positions),
        })
    };
    match database.size().await {
        Ok(size) => Component::up(details(Some(size), Value::Null)),
        Err(error) => Component::down(details(None, error.to_string().into())),
    }
}

fn read_models(positions: &Positions) -> Value {
    let details = |(name, progress): (&str, &Progress)| {
        let state = json!({
            "position": progress.position().map(|id| id.to_string()),
            "rebuilt": progress.is_rebuilt(),
            "stopped": progress.is_stopped(),
            "error": progress.trouble(),
        });
        (name.to_owned(), state)
    };
    Value::Object(positions.iter().map(details).collect())
}
