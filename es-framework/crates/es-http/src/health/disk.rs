//! The health check of the disk space.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::HealthComponent;

/// Smallest free space of a healthy disk: 10 MiB.
const THRESHOLD: u64 = 10 * 1024 * 1024;

/// Checks that the disk of a folder has free space.
pub(super) async fn check_disk(folder: PathBuf) -> HealthComponent {
    // A disk that hangs must not block other requests.
    let checked = tokio::task::spawn_blocking(move || check_now(&folder)).await;
    checked.unwrap_or_else(|error| HealthComponent::down(json!({ "error": error.to_string() })))
}

fn check_now(folder: &Path) -> HealthComponent {
    let details = |total, free| {
        json!({
            "total": total,
            "free": free,
            "threshold": THRESHOLD,
            "path": folder.display().to_string(),
            "exists": true,
        })
    };
    match rustix::fs::statvfs(folder) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let details = details(disk.f_blocks.saturating_mul(disk.f_frsize), free);
            if free >= THRESHOLD {
                HealthComponent::up(details)
            } else {
                HealthComponent::down(details)
            }
        }
        Err(error) => HealthComponent::down(json!({
            "path": folder.display().to_string(),
            "exists": folder.exists(),
            "error": error.to_string(),
        })),
    }
}
