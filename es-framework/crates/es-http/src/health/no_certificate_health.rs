//! Replaces the health check of certificates in a program without the feature `tls`.

use std::path::PathBuf;

use es_net::tls::ServerTls;
use serde_json::json;

use super::HealthComponent;

/// Returns the report without certificates, because the program uses none.
pub(super) async fn check_certificates(
    _: Option<&ServerTls>,
    _: Option<PathBuf>,
) -> HealthComponent {
    HealthComponent::up(json!({ "validChains": [], "invalidChains": [] }))
}
