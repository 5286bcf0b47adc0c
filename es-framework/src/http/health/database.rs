//! Whether the secondary database answers a query, and how far its read models have come.

use serde_json::json;

use super::Component;
use crate::projection::{Database, Progress};

pub(super) async fn check(database: &Database, progress: &Progress) -> Component {
    let mut details = json!({
        "database": "SQLite",
        "validationQuery": "SELECT 1",
        "readModels": {
            "position": progress.position().map(|id| id.to_string()),
            "rebuilt": progress.is_rebuilt(),
        },
    });
    if let Some(trouble) = progress.trouble() {
        details["readModels"]["error"] = trouble.into();
    }
    match database.ping().await {
        Ok(()) => Component::up(details),
        Err(error) => {
            details["error"] = error.to_string().into();
            Component::down(details)
        }
    }
}
