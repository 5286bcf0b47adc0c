//! `GET /actuator/health`: checks every component at the time of the request.

#[cfg(feature = "tls")]
mod certificate_health;
mod database;
mod disk;
mod event_store_health;
mod probes;
mod report_detail;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use es_event::EventId;
use es_net::tls::ServerTls;
use es_personal::PersonKeys;
use es_read::projection::Database;
use es_store::{EventLog, EventStore, newest_id};
use es_subscribe::ProgressRegistry;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    HttpContext,
    auth::{RequestWithoutCredential, VerifiedCaller},
};

pub use probes::Lifecycle;
pub(super) use probes::{ServiceInfo, info, liveness, readiness};

/// Longest time of a check. A slower one fails.
const CHECK_LIMIT: Duration = Duration::from_secs(3);

/// The components that the health check examines.
#[doc(hidden)]
#[derive(Debug)]
pub struct Health {
    /// The event store.
    pub store: Arc<dyn EventStore>,
    /// The keys of persons, if the application has some.
    pub keys: Option<PersonKeys>,
    /// The secondary database.
    pub database: Database,
    /// The positions of the read models.
    pub positions: ProgressRegistry,
    /// The progress of the reactions.
    pub reactions: ProgressRegistry,
    /// A folder on the disk whose free space is checked.
    pub folder: PathBuf,
    /// A PEM file with certificates that the service trusts.
    pub certificates: Option<PathBuf>,
    /// The lifecycle of the process.
    pub lifecycle: Lifecycle,
    /// The service's own certificate, if it speaks TLS.
    pub tls: Option<ServerTls>,
}

/// The health of a component or of the whole service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "HealthStatus", description = "The status of a component.")]
enum HealthStatus {
    /// The component or the service works.
    Up,
    /// The component or the service does not work.
    Down,
}

/// One component's health.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HealthOfComponent", description = "One component's health.")]
struct HealthComponent {
    status: HealthStatus,
    /// Further details, such as the reason.
    #[serde(skip_serializing_if = "Value::is_null")]
    details: Value,
}

/// The health of the service and of each component.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct HealthReport {
    status: HealthStatus,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<&'static str, HealthComponent>,
}

impl HealthComponent {
    const fn up(details: Value) -> Self {
        Self {
            status: HealthStatus::Up,
            details,
        }
    }

    const fn down(details: Value) -> Self {
        Self {
            status: HealthStatus::Down,
            details,
        }
    }

    /// Returns a component whose check did not end in time.
    fn silent() -> Self {
        Self::down(json!({ "error": format!("no answer within {} s", CHECK_LIMIT.as_secs()) }))
    }
}

impl Health {
    async fn report(&self) -> HealthReport {
        let (db, event_store, disk, ssl, keys) = tokio::join!(
            within_limit(database::check_database(
                &self.database,
                &self.positions,
                &*self.store
            )),
            within_limit(event_store_health::check_store_and_reactions(
                &*self.store,
                &self.reactions
            )),
            within_limit(disk::check_disk(self.folder.clone())),
            within_limit(self.check_certificates()),
            self.check_keys(),
        );
        let mut components = BTreeMap::from([
            ("db", db),
            ("diskSpace", disk),
            ("eventstore", event_store),
            ("ping", HealthComponent::up(Value::Null)),
            ("ssl", ssl),
        ]);
        components.extend(keys);
        HealthReport::from_components(components)
    }

    /// Checks the key store, if the application has one.
    async fn check_keys(&self) -> Option<(&'static str, HealthComponent)> {
        let keys = self.keys.as_ref()?;
        let checked = within_limit(async {
            let store = keys.store();
            if let Err(error) = store.check().await {
                return HealthComponent::down(json!({ "error": error.to_string() }));
            }
            if let Some(file) = store.file() {
                let disk = disk::check_disk(file.to_owned()).await;
                if disk.status == HealthStatus::Down {
                    return disk;
                }
            }
            HealthComponent::up(json!({ "identity": store.identity() }))
        });
        Some(("keystore", checked.await))
    }

    #[cfg(feature = "tls")]
    async fn check_certificates(&self) -> HealthComponent {
        let (own, trusted) = (self.tls.as_ref(), self.certificates.clone());
        certificate_health::check_certificates(own, trusted).await
    }

    /// A program without TLS has no certificates.
    #[cfg(not(feature = "tls"))]
    async fn check_certificates(&self) -> HealthComponent {
        HealthComponent::up(json!({ "validChains": [], "invalidChains": [] }))
    }
}

impl HealthReport {
    /// The service is up if each component is.
    fn from_components(components: BTreeMap<&'static str, HealthComponent>) -> Self {
        let mut components_up = components
            .values()
            .map(|one| one.status == HealthStatus::Up);
        let status = if components_up.all(|is_up| is_up) {
            HealthStatus::Up
        } else {
            HealthStatus::Down
        };
        Self { status, components }
    }
}

/// Returns the newest event of the store, if it answers. The health check of the event store reports a store that
/// does not.
pub(super) async fn load_newest_id(log: &dyn EventLog) -> Option<EventId> {
    newest_id(log).await.ok().flatten()
}

async fn within_limit(check: impl Future<Output = HealthComponent>) -> HealthComponent {
    tokio::time::timeout(CHECK_LIMIT, check)
        .await
        .unwrap_or_else(|_| HealthComponent::silent())
}

/// Returns the JSON schema of the report.
pub(super) fn report_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<HealthReport>()
}

/// Returns the report. Where the service authenticates callers, one without a credential gets only the status,
/// because the details name folders and addresses, and no one sees whose rows wait.
pub(super) async fn show_report(
    State(context): State<Arc<HttpContext>>,
    anonymous: Option<Extension<RequestWithoutCredential>>,
    caller: Option<Extension<VerifiedCaller>>,
) -> Response {
    let mut report = context.health.report().await;
    if caller.is_some() {
        let components = report.components.values_mut();
        components.for_each(|one| report_detail::hide_single_events(&mut one.details));
    }
    answer(report, anonymous)
}

/// Creates the response with a report. Anonymous requests see no components.
fn answer(
    mut report: HealthReport,
    anonymous: Option<Extension<RequestWithoutCredential>>,
) -> Response {
    if anonymous.is_some() {
        report.components.clear();
    }
    let status = match report.status {
        HealthStatus::Up => StatusCode::OK,
        HealthStatus::Down => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(report)).into_response()
}
