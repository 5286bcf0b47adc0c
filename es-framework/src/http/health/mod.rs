//! `GET /actuator/health`: every component is really checked, at the moment it is asked about.

mod database;
mod disk;
mod event_store;
mod probes;
mod tls;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

pub(super) use database::read_models;
pub(super) use event_store::reactions;

use super::{Surface, auth::Anonymous};
use crate::{
    net::tls::ServerTls,
    projection::{Database, Positions},
    reaction::ReactionStatuses,
    store::EventStore,
};

pub use probes::Lifecycle;
pub(super) use probes::{info, liveness, readiness};

/// A check that takes longer has failed.
const CHECK_LIMIT: Duration = Duration::from_secs(3);

/// Where the report is.
pub(super) const PATH: &str = "/actuator/health";
/// Where the probes are, and what runs here.
pub(super) const LIVENESS: &str = "/actuator/health/liveness";
pub(super) const READINESS: &str = "/actuator/health/readiness";
pub(super) const INFO: &str = "/actuator/info";

/// What is checked.
///
/// ```
/// use es_framework::http::health::Health;
///
/// /// The read models that wait for an operator.
/// fn stopped(health: &Health) -> usize {
///     health.positions.iter().filter(|(_, progress)| progress.is_stopped()).count()
/// }
/// ```
#[derive(Debug)]
pub struct Health {
    /// The event store.
    pub store: Arc<dyn EventStore>,
    /// The secondary database.
    pub database: Database,
    /// How far the read models have come.
    pub positions: Positions,
    /// How the reactions are doing, whose checkpoints are in the event store.
    pub reactions: ReactionStatuses,
    /// A folder on the disk that must not be full.
    pub folder: PathBuf,
    /// A PEM file with certificates that the service relies on.
    pub certificates: Option<PathBuf>,
    /// What only the process itself knows of its life.
    pub lifecycle: Lifecycle,
    /// What the service itself shows its clients, if they come by TLS.
    pub(crate) tls: Option<ServerTls>,
}

/// Whether something works.
///
/// ```
/// use es_framework::http::health::Status;
///
/// assert_eq!(serde_json::to_string(&Status::Up)?, r#""UP""#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "HealthStatus", description = "Whether something works.")]
pub enum Status {
    /// It does.
    Up,
    /// It does not.
    Down,
}

/// One component's health.
///
/// ```
/// use es_framework::http::health::Component;
///
/// /// As it stands in the answer to `GET /actuator/health`.
/// fn json(component: &Component) -> serde_json::Result<String> {
///     serde_json::to_string(component) // {"status":"UP","details":{…}}
/// }
/// ```
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HealthOfComponent", description = "One component's health.")]
pub struct Component {
    status: Status,
    /// What else is known, such as the reason.
    #[serde(skip_serializing_if = "Value::is_null")]
    details: Value,
}

/// Whether the service works, and each part of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct Report {
    status: Status,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<&'static str, Component>,
}

impl Component {
    const fn up(details: Value) -> Self {
        Self {
            status: Status::Up,
            details,
        }
    }

    const fn down(details: Value) -> Self {
        Self {
            status: Status::Down,
            details,
        }
    }

    /// A component whose check gave no answer in time.
    fn silent() -> Self {
        Self::down(json!({ "error": format!("no answer within {} s", CHECK_LIMIT.as_secs()) }))
    }
}

impl Health {
    async fn report(&self) -> Report {
        let (db, event_store, disk, ssl) = tokio::join!(
            within_limit(database::check(
                &self.database,
                &self.positions,
                &*self.store
            )),
            within_limit(event_store::check(&*self.store, &self.reactions)),
            within_limit(disk::check(self.folder.clone())),
            within_limit(tls::check(
                self.tls.as_ref().map(ServerTls::chain).unwrap_or_default(),
                self.certificates.clone(),
            )),
        );
        let components = BTreeMap::from([
            ("db", db),
            ("diskSpace", disk),
            ("eventstore", event_store),
            ("ping", Component::up(Value::Null)),
            ("ssl", ssl),
        ]);
        Report::of(components)
    }
}

impl Report {
    /// All is up if each component is.
    fn of(components: BTreeMap<&'static str, Component>) -> Self {
        let mut components_up = components.values().map(|one| one.status == Status::Up);
        let status = if components_up.all(|is_up| is_up) {
            Status::Up
        } else {
            Status::Down
        };
        Self { status, components }
    }
}

async fn within_limit(check: impl Future<Output = Component>) -> Component {
    tokio::time::timeout(CHECK_LIMIT, check)
        .await
        .unwrap_or_else(|_| Component::silent())
}

/// What the report looks like.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Report>()
}

/// All of it, but only the status for those who did not say who they are where that matters: the
/// details name folders and addresses.
pub(super) async fn show(
    State(surface): State<Arc<Surface>>,
    anonymous: Option<Extension<Anonymous>>,
) -> Response {
    answer(surface.health.report().await, anonymous)
}

fn answer(mut report: Report, anonymous: Option<Extension<Anonymous>>) -> Response {
    if anonymous.is_some() {
        report.components.clear();
    }
    let status = match report.status {
        Status::Up => StatusCode::OK,
        Status::Down => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(report)).into_response()
}
