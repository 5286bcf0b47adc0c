//! Whether the secondary database answers a query, and how far its read models have come.

use serde_json::{Value, json};

use super::Component;
use crate::projection::{Database, Progress};

pub(super) async fn check(database: &Database, progress: &Progress) -> Component {
    let details = |size: Option<u64>, error: Value| {
        json!({
            "database": "SQLite",
            "sizeInBytes": size,
            "error": error,
            "readModels": {
                "position": progress.position().map(|id| id.to_string()),
                "rebuilt": progress.is_rebuilt(),
                "error": progress.trouble(),
            },
        })
    };
    match database.size().await {
        Ok(size) => Component::up(details(Some(size), Value::Null)),
        Err(error) => Component::down(details(None, error.to_string().into())),
    }
}
