//! An application that is built: its background work runs, and it is ready to serve.

use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::Router;
use es_command::unique::UniqueKeySource;
use es_net::{self as net, shutdown, tls::ServerTls};
use es_observe::metrics::measure_stores;
use es_personal::PersonalStore;
use es_store::secret_file::generate_secret;
use es_subscribe::state::StateDatabase;
use tokio::net::TcpListener;

use super::{
    background::{BackgroundThread, start_projections, start_reactions},
    declarations::{Declarations, start_error},
    event_store::open_event_store,
    in_process_client::ApplicationClient,
    listener::{browser_policy, check_network_exposure, load_tls, local_address, log_console},
    opened_store::OpenedStore,
    personal_data::{open_personal_store, personal_data},
    read_models::open_database,
    sinks::{reactions_and_sinks, redacted_resources},
    state_database::open_state_database,
    unique_values::open_unique_keys,
};
use crate::{
    Result,
    catalog::Catalog,
    command::{CommandResources, Services},
    config::Settings,
    http::{
        self, HttpContext, LiveQueries,
        auth::Auth,
        health::{Health, Lifecycle},
    },
    projection::{Database, Processor},
    reaction::{ReactionRunner, ReactionRuntime, Reactions},
    state::Snapshots,
    store::{EventLog, EventStore},
    telemetry::milliseconds_since,
};

/// An application that [`App::build`](crate::App::build) made. Its projections and reactions run until
/// it is shut down or dropped.
///
/// ```standalone_crate
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
    resources: OpenedResources,
    router: Router,
    live: LiveQueries,
    projections: BackgroundThread,
    reactions: BackgroundThread,
    /// The key of the link to the console, if the application is open on this machine alone.
    console_key: Option<String>,
    begin: Instant,
}

/// The resources that an application opens before it answers.
struct OpenedResources {
    name: &'static str,
    settings: Settings,
    auth: Auth,
    tls: Option<ServerTls>,
    store: OpenedStore,
    has_store_of_code: bool,
    personal: Option<PersonalStore>,
    unique_keys: Arc<dyn UniqueKeySource>,
    database: Database,
    reactions: Reactions,
    state: StateDatabase,
    lifecycle: Lifecycle,
}

impl OpenedResources {
    /// Opens what the settings name: the event store, the database and the files.
    async fn open(
        declarations: &Declarations,
        settings: Settings,
        store: Option<Arc<dyn EventStore>>,
    ) -> Result<Self> {
        let name = declarations.name;
        settings.check_authentication(name)?;
        let auth = Auth::open(settings.auth_tokens_file.clone(), settings.issuer()?)?;
        let tls = load_tls(&settings)?;
        let has_store_of_code = store.is_some();
        let store = open_event_store(&settings, store).await?;
        let declared = declarations.catalog.events();
        let personal = open_personal_store(declared, &settings, store.as_event_store()).await?;
        let unique_keys = open_unique_keys(declared, personal.as_ref()).await?;
        let reactions = reactions_and_sinks(name, &settings, &declarations.catalog)?;
        let events = store.as_event_store();
        let state = open_state_database(&settings, &reactions, &*events, has_store_of_code).await?;
        Ok(Self {
            name,
            lifecycle: Lifecycle::begin(name, declarations.catalog.version()),
            auth,
            tls,
            has_store_of_code,
            store,
            personal,
            unique_keys,
            reactions,
            state,
            database: open_database(&settings, declarations.catalog.read_models()).await?,
            settings,
        })
    }

    /// The events as the application sees them.
    fn application_store(&self) -> Arc<dyn EventLog> {
        match &self.personal {
            Some(personal) => Arc::new(personal.clone()),
            None => self.store.as_event_store(),
        }
    }

    fn command_resources(&self, services: Services, catalog: &Catalog) -> CommandResources {
        let source = self.settings.source(self.name);
        let resources = CommandResources::new(self.application_store(), source)
            .with_upcasters(catalog.upcasters().clone())
            .with_services(services)
            .with_unique_events(catalog.events())
            .with_unique_keys(Arc::clone(&self.unique_keys));
        match snapshot_file(&self.settings, self.has_store_of_code) {
            Some(file) => resources.with_snapshots(Snapshots::in_file(file)),
            None => resources,
        }
    }

    fn http_context(
        &self,
        command_resources: CommandResources,
        processor: &Processor,
        runner: &ReactionRunner,
        live: LiveQueries,
    ) -> HttpContext {
        let settings = &self.settings;
        HttpContext {
            live,
            command_resources,
            positions: processor.progress(),
            health: self.health(processor, runner),
            database: self.database.clone(),
            limits: settings.request_limits(),
            auth: self.auth.clone(),
            rate: settings.http_rate_limit,
            public_rate: settings.http_public_rate_limit,
            browsers: browser_policy(settings, &self.auth, self.tls.as_ref()),
            metadata_headers: settings.event_metadata_headers.clone(),
            metadata_caller: settings.event_metadata_caller,
            read_models: processor.operator_client(),
            reactions: runner.operator_client(),
            operator_token: self.store.operator_token(),
            personal_data: None,
        }
    }

    fn health(&self, processor: &Processor, runner: &ReactionRunner) -> Health {
        Health {
            store: self.store.as_event_store(),
            keys: self.personal.as_ref().map(|store| store.keys().clone()),
            database: self.database.clone(),
            positions: processor.progress(),
            reactions: runner.progress(),
            folder: self.store.disk_folder(),
            certificates: self.settings.event_store_ca_file.clone(),
            lifecycle: self.lifecycle.clone(),
            tls: self.tls.clone(),
        }
    }
}

impl Application {
    /// Opens all resources and starts the projections and the reactions. Accepts no requests yet.
    pub(super) async fn build(
        declarations: Declarations,
        settings: Settings,
        store: Option<Arc<dyn EventStore>>,
    ) -> Result<Self> {
        let begin = Instant::now();
        measure_stores();
        settings.check(store.is_some())?;
        let resources = OpenedResources::open(&declarations, settings, store).await?;
        let name = resources.name;
        declarations.log_routes();
        declarations.log_findings(resources.auth.find_known_roles().as_ref());
        let (catalog, services) = (declarations.catalog, declarations.services);
        let upcasters = catalog.upcasters().clone();
        let is_personal = |event_type: &str| {
            let store = resources.personal.as_ref();
            store.is_some_and(|store| store.may_hold_personal_data(event_type))
        };
        let processor = Processor::new(
            resources.application_store(),
            resources.database.clone(),
            catalog.read_models().clone(),
        )
        .with_upcasters(upcasters.clone())
        .with_source(resources.settings.source(name).into())
        .with_personal_events(is_personal);
        let command_resources = resources.command_resources(services.clone(), &catalog);
        let runtime = ReactionRuntime {
            source: resources.settings.source(name).into(),
            redacted_resources: redacted_resources(resources.personal.as_ref(), &command_resources),
            command_resources: command_resources.clone(),
            store: resources.application_store(),
            services,
            upcasters,
            state: resources.state.clone(),
            sent_commands: None,
        };
        let models = catalog.read_models();
        let personal = personal_data(
            resources.personal.clone(),
            resources.settings.source(name),
            &command_resources,
            models,
            &processor,
            &resources.database,
        )
        .await;
        let runner = ReactionRunner::new(runtime, resources.reactions.clone());
        let live = LiveQueries::new(resources.settings.live_queries.into());
        let mut context =
            resources.http_context(command_resources, &processor, &runner, live.clone());
        context.personal_data = personal.clone();
        // Only where everyone on this machine may call. Elsewhere, operators sign in.
        let console_key = context.browsers.local_hosts_only.then(generate_secret);
        #[cfg(feature = "console")]
        let console = {
            let key = console_key.as_deref();
            super::console::routes(name, &resources.settings, &catalog, &context, key)
        };
        #[cfg(not(feature = "console"))]
        let console = None;
        let router = http::router(name, &catalog, context, declarations.custom, console)
            .await
            .map_err(|error| start_error(name, error))?;
        let (drain, lifecycle) = (resources.settings.shutdown_timeout, &resources.lifecycle);
        Ok(Self {
            reactions: start_reactions(runner, drain, lifecycle)?,
            projections: start_projections(processor, personal, lifecycle)?,
            resources,
            router,
            live,
            console_key,
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
        stop: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let address = local_address(&listener)?;
        let tls = self.resources.tls.clone();
        check_network_exposure(
            self.resources.name,
            address,
            &self.resources.auth,
            &self.resources.settings,
            tls.as_ref(),
        )?;
        self.resources
            .store
            .start_api(&self.resources.settings)
            .await?;
        let name = self.resources.name;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        tracing::info!("{name} listens on {url}");
        tracing::info!("try it out at {url}/docs");
        if self.resources.settings.console {
            log_console(&url, self.console_key.as_deref());
        }
        tracing::info!(
            milliseconds = milliseconds_since(self.begin),
            "the start took"
        );
        let drain = self.resources.settings.shutdown_timeout;
        let stopping = async {
            stop.await;
            tracing::info!("{name} stops: open requests have {drain:?} to end");
            self.stop_requests();
        };
        let limits = self.resources.settings.connection_limits();
        let listener = net::HttpListener::new(listener, tls);
        net::serve(listener, self.router.clone(), limits, Box::pin(stopping)).await;
        self.shutdown().await;
        tracing::info!("{name} has stopped");
        Ok(())
    }

    /// Returns the router with all routes, to nest it into another one or to call it in process.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Returns an HTTP client that calls the router in process, without a socket.
    #[must_use]
    pub fn client(&self) -> ApplicationClient {
        ApplicationClient::new(self.router())
    }

    /// Stops projections and reactions, and closes the event store. A call of a reaction that is running may
    /// go on for `SHUTDOWN_TIMEOUT`.
    pub async fn shutdown(self) {
        self.stop_requests();
        let drain = self.resources.settings.shutdown_timeout;
        let stopped = tokio::task::spawn_blocking(move || {
            self.reactions.stop(drain);
            self.projections.stop(Duration::ZERO);
        });
        let _ = stopped.await;
        self.resources.store.close().await;
    }

    /// Ends the requests that would never end by themselves, and the reactions. The projections go on,
    /// because open queries may wait for them.
    fn stop_requests(&self) {
        self.resources.lifecycle.record_shutdown();
        self.reactions.request_stop();
        self.live.end_streams();
        self.resources.store.request_api_stop();
    }
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application")
            .field("name", &self.resources.name)
            .field("settings", &self.resources.settings)
            .finish_non_exhaustive()
    }
}

/// Returns the file with snapshots. With a store that code provides, snapshots are stored only if the
/// settings name their file: such a store may be in memory, and its ids then begin anew at each start.
fn snapshot_file(settings: &Settings, has_store_of_code: bool) -> Option<PathBuf> {
    if has_store_of_code {
        settings.snapshot_file.clone()
    } else {
        Some(settings.snapshot_path())
    }
}
