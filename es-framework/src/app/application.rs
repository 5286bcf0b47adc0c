//! An application that is built: its background work runs, and it is ready to serve.

use std::{fmt, path::PathBuf, sync::Arc, time::Instant};

use axum::Router;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::{
    background::BackgroundThread,
    declarations::{Declarations, start_error},
    event_store::OpenStore,
    in_process_client::ApplicationClient,
    listener::{check_address, load_tls, local_address},
};
use crate::{
    Error, Result,
    command::CommandBus,
    config::Settings,
    http::{
        self, HttpContext, LiveLimits, LiveQueries,
        auth::{Auth, RateLimit},
        headers::BrowserPolicy,
        health::{Health, Lifecycle},
    },
    net::{self, tls::ServerTls},
    projection::{Database, Processor, ReadModels},
    reaction::{ReactionRunner, ReactionRuntime},
    shutdown,
    state::Snapshots,
    store::EventStore,
    telemetry::milliseconds_since,
};

/// An application that [`App::build`](crate::App::build) made. Its projections and reactions run until
/// it is shut down or dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{App, Settings, prelude::*, store::memory::MemoryStore};
///
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct PurchaseBookCommand { id: Uuid }
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> es_framework::Result<()> {
/// let application = App::new("library-service")
///     .settings(Settings::default())
///     .event_store(Arc::new(MemoryStore::new()))
///     .build()
///     .await?;
/// let health = application.client().get("/actuator/health/liveness").await?;
/// assert_eq!(health.status, 200);
/// application.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct Application {
    name: &'static str,
    settings: Settings,
    router: Router,
    auth: Auth,
    tls: Option<ServerTls>,
    store: OpenStore,
    lifecycle: Lifecycle,
    live: LiveQueries,
    background: [BackgroundThread; 2],
    begin: Instant,
}

impl Application {
    pub(super) async fn build(
        declarations: Declarations,
        settings: Settings,
        store: Option<Arc<dyn EventStore>>,
    ) -> Result<Self> {
        let begin = Instant::now();
        settings.check_limits()?;
        let name = declarations.name;
        let lifecycle = Lifecycle::begin(name);
        let auth = Auth::from_settings(name, &settings)?;
        let tls = load_tls(&settings)?;
        let has_store_of_code = store.is_some();
        let store = OpenStore::open(&settings, store).await?;
        let database = open_database(&settings, &declarations.models).await?;
        declarations.log_routes();
        let upcasters = declarations.registry.upcasters();
        let processor = Processor::new(store.port(), database.clone(), declarations.models)
            .with_upcasters(upcasters.clone());
        let mut bus = CommandBus::new(store.port(), source(name, &settings))
            .with_upcasters(upcasters.clone())
            .with_services(declarations.services.clone());
        if let Some(file) = snapshot_file(&settings, has_store_of_code) {
            bus = bus.with_snapshots(Snapshots::in_file(file));
        }
        let runtime = ReactionRuntime {
            source: source(name, &settings).into(),
            bus: bus.clone(),
            store: store.port(),
            services: declarations.services.clone(),
            upcasters,
            instance: Uuid::new_v4(),
            sent_commands: None,
        };
        let runner = ReactionRunner::new(runtime, declarations.reactions);
        let live = live_queries(&settings);
        let health = Health {
            store: store.port(),
            database: database.clone(),
            positions: processor.positions(),
            reactions: runner.statuses(),
            folder: store.folder(),
            certificates: settings.event_store_ca_file.clone(),
            lifecycle: lifecycle.clone(),
            tls: tls.clone(),
        };
        let context = HttpContext {
            live: live.clone(),
            clock: declarations.services.clock(),
            bus,
            positions: processor.positions(),
            health,
            database,
            limits: settings.request_limits(),
            auth: auth.clone(),
            rate: settings.http_rate_limit.map(RateLimit::per_second),
            browsers: browser_policy(&settings, tls.as_ref()),
            metadata_headers: settings.event_metadata_headers.clone(),
            metadata_caller: settings.event_metadata_caller,
            read_models: processor.operator(),
            reactions: runner.operator(),
            operator_token: store.token(),
        };
        let router = http::router_with(
            name,
            &declarations.registry,
            declarations.queries,
            context,
            declarations.custom,
        )
        .await
        .map_err(|error| start_error(name, error))?;
        let background = start_background(processor, runner, &lifecycle)?;
        Ok(Self {
            name,
            settings,
            router,
            auth,
            tls,
            store,
            lifecycle,
            live,
            background,
            begin,
        })
    }

    /// Serves connections of this listener until SIGINT or SIGTERM, and then shuts down.
    ///
    /// # Errors
    /// The listener's address is open to other machines, and the settings do not allow that; or the
    /// embedded event store cannot listen.
    pub async fn serve(self, listener: TcpListener) -> Result<()> {
        let stop = async {
            match shutdown::stop_signal() {
                Ok(requested) => requested.await,
                Err(error) => {
                    tracing::warn!(%error, "signals cannot stop the application gracefully");
                    std::future::pending().await
                }
            }
        };
        self.serve_until(listener, stop).await
    }

    /// Serves connections of this listener until the future ends, and then shuts down.
    ///
    /// # Errors
    /// As [`Application::serve`].
    pub async fn serve_until(
        mut self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let address = local_address(&listener)?;
        let tls = self.tls.clone();
        check_address(self.name, address, &self.auth, &self.settings, tls.as_ref())?;
        self.store.listen(&self.settings).await?;
        let name = self.name;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        tracing::info!("{name} listens on {url}");
        tracing::info!("try it out at {url}{}", http::docs::PATH);
        tracing::info!(
            milliseconds = milliseconds_since(self.begin),
            "the start took"
        );
        let drain = self.settings.shutdown_timeout;
        let stopping = async {
            stop.await;
            tracing::info!("{name} stops: open requests have {drain:?} to end");
            self.stop_requests();
        };
        let limits = self.settings.connection_limits();
        let listener = net::HttpListener { tcp: listener, tls };
        net::serve(listener, self.router.clone(), limits, stopping).await;
        self.shutdown().await;
        tracing::info!("{name} has stopped");
        Ok(())
    }

    /// Returns the router with all routes, to nest it into another one or to call it in process.
    #[must_use]
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Returns an HTTP client that calls the router in process, without a socket.
    #[must_use]
    pub fn client(&self) -> ApplicationClient {
        ApplicationClient::new(self.router())
    }

    /// Stops projections and reactions, and closes the event store.
    pub async fn shutdown(self) {
        self.stop_requests();
        let stopped = tokio::task::spawn_blocking(|| {
            self.background.into_iter().for_each(BackgroundThread::stop);
        });
        let _ = stopped.await;
        self.store.close().await;
    }

    /// Ends the requests that would never end by themselves.
    fn stop_requests(&self) {
        self.lifecycle.stop();
        self.live.end();
        self.store.stop();
    }
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Returns the source of events: the application's name, unless the settings name another one.
fn source<'a>(name: &'a str, settings: &'a Settings) -> &'a str {
    settings.event_source.as_deref().unwrap_or(name)
}

fn live_queries(settings: &Settings) -> LiveQueries {
    LiveQueries::new(LiveLimits {
        open: settings.live_queries.into(),
        ..LiveLimits::default()
    })
}

fn browser_policy(settings: &Settings, tls: Option<&ServerTls>) -> BrowserPolicy {
    BrowserPolicy {
        origins: settings.http_cors_origins.clone(),
        tls: tls.is_some(),
    }
}

/// Returns the file with snapshots. A store of code has one only if the settings name it: it may be
/// in memory, and its ids begin anew.
fn snapshot_file(settings: &Settings, has_store_of_code: bool) -> Option<PathBuf> {
    if has_store_of_code {
        settings.snapshot_file.clone()
    } else {
        Some(settings.snapshots())
    }
}

/// Starts the projections and the reactions, each in a thread.
fn start_background(
    processor: Processor,
    runner: ReactionRunner,
    lifecycle: &Lifecycle,
) -> Result<[BackgroundThread; 2]> {
    let failure = "the reactions cannot start";
    let reactions = BackgroundThread::start("reactions", failure, runner.run(), lifecycle)?;
    let failure = "the projections cannot start";
    let projections = BackgroundThread::start("read-models", failure, processor.run(), lifecycle)?;
    Ok([projections, reactions])
}

async fn open_database(settings: &Settings, models: &ReadModels) -> Result<Database> {
    let url = &settings.database_url;
    let database = Database::open_within(url, models, settings.query_seconds)
        .await
        .map_err(|error| Error::because("the read models cannot be set up", error))?;
    tracing::info!("read models are stored in {}, {url}", database.kind());
    Ok(database)
}
