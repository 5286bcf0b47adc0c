//! Whether the secondary database answers a query, and how far its read models have come.

use serde_json::{Value, json};

use super::Component;
use crate::projection::{Database, Progress};

pub(super) async fn check(database: &Database, progress: &Progress) -> Component {
    let details = |error: Value| {
        json!({
            "database": "SQLite",
            "validationQuery": "SELECT 1",
            "error": error,
            "readModels": {
                "position": progress.position().map(|id| id.to_string()),
                "rebuilt": progress.is_rebuilt(),
                "error": progress.trouble(),
            },
        })
    };
    match database.ping().await {
        Ok(()) => Component::up(details(Value::Null)),
        Err(error) => Component::down(details(error.to_string().into())),
    }
}
