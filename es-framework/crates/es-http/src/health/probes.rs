//! The liveness probe reports if a restart of the service would help. The readiness probe reports if
//! it can handle commands and queries now.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{Extension, Json, extract::State, response::Response};
use es_subscribe::SubscriberProgress;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Health, HealthComponent, HealthReport, answer, event_store_health, within_limit};
use crate::{HttpContext, auth::RequestWithoutCredential};

/// The lifecycle of the process: its start, its shutdown and its broken threads. Clones share it.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Lifecycle(Arc<SharedLifecycle>);

/// The start, the shutdown and the broken threads of the process, which all clones of a `Lifecycle` share.
#[derive(Debug)]
struct SharedLifecycle {
    name: &'static str,
    version: &'static str,
    begin: Timestamp,
    stops: AtomicBool,
    broken: Mutex<Vec<String>>,
}

/// The application and its framework.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServiceInfo {
    app: ApplicationInfo,
    framework: FrameworkInfo,
}

/// The application.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ApplicationInfo {
    name: &'static str,
    version: &'static str,
    started_at: Timestamp,
}

/// The framework of the application.
#[derive(Debug, Serialize, JsonSchema)]
struct FrameworkInfo {
    name: &'static str,
    version: &'static str,
}

impl Lifecycle {
    /// Begins the lifecycle of an application of this name and version.
    #[must_use]
    pub fn begin(name: &'static str, version: &'static str) -> Self {
        Self(Arc::new(SharedLifecycle {
            name,
            version,
            begin: Timestamp::now(),
            stops: AtomicBool::new(false),
            broken: Mutex::default(),
        }))
    }

    /// Records that the shutdown began.
    pub fn record_shutdown(&self) {
        self.0.stops.store(true, Ordering::Release);
    }

    /// Records a thread that panicked. Only a restart of the application helps.
    pub fn record_broken_thread(&self, thread: &str) {
        self.lock().push(thread.to_owned());
    }

    /// Returns the information about the application and the framework.
    fn info(&self) -> ServiceInfo {
        ServiceInfo {
            app: ApplicationInfo {
                name: self.0.name,
                version: self.0.version,
                started_at: self.0.begin,
            },
            framework: FrameworkInfo {
                name: "es-framework",
                version: env!("CARGO_PKG_VERSION"),
            },
        }
    }

    /// Returns the threads that panicked.
    pub fn broken_threads(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Health {
    fn liveness(&self) -> HealthReport {
        let broken = self.lifecycle.broken_threads();
        let threads = if broken.is_empty() {
            HealthComponent::up(Value::Null)
        } else {
            HealthComponent::down(json!({ "broken": broken }))
        };
        HealthReport::from_components(BTreeMap::from([("threads", threads)]))
    }

    async fn readiness(&self) -> HealthReport {
        let (event_store, db, keys) = tokio::join!(
            within_limit(event_store_health::check_event_store(
                &*self.store,
                &self.reactions
            )),
            within_limit(self.database_answers()),
            self.check_keys(),
        );
        let mut components = BTreeMap::from([
            ("db", db),
            ("eventstore", event_store),
            ("readModels", self.rebuilt()),
            ("requests", self.requests()),
        ]);
        components.extend(keys);
        HealthReport::from_components(components)
    }

    async fn database_answers(&self) -> HealthComponent {
        match self.database.probe().await {
            Ok(()) => HealthComponent::up(Value::Null),
            Err(error) => HealthComponent::down(json!({ "error": error.to_string() })),
        }
    }

    /// Checks that no read model is being rebuilt. One that has stopped with rows is ignored: waiting does not repair
    /// it, and the others still answer. Without rows, its table may never have been created.
    fn rebuilt(&self) -> HealthComponent {
        let is_ignored = |model: &SubscriberProgress| {
            let state = model.state();
            state.is_stopped_at_event() || state.is_stopped() && model.position().is_some()
        };
        let missing = |model: &&SubscriberProgress| !model.has_caught_up() && !is_ignored(model);
        let models = self.positions.iter().filter(missing);
        let names: Vec<_> = models.map(SubscriberProgress::name).collect();
        if names.is_empty() {
            HealthComponent::up(Value::Null)
        } else {
            HealthComponent::down(json!({ "beingRebuilt": names }))
        }
    }

    fn requests(&self) -> HealthComponent {
        if self.lifecycle.0.stops.load(Ordering::Acquire) {
            HealthComponent::down(json!({ "error": "the service stops" }))
        } else {
            HealthComponent::up(Value::Null)
        }
    }
}

pub(crate) async fn liveness(
    State(context): State<Arc<HttpContext>>,
    anonymous: Option<Extension<RequestWithoutCredential>>,
) -> Response {
    answer(context.health.liveness(), anonymous)
}

pub(crate) async fn readiness(
    State(context): State<Arc<HttpContext>>,
    anonymous: Option<Extension<RequestWithoutCredential>>,
) -> Response {
    answer(context.health.readiness().await, anonymous)
}

pub(crate) async fn info(State(context): State<Arc<HttpContext>>) -> Json<ServiceInfo> {
    Json(context.health.lifecycle.info())
}
