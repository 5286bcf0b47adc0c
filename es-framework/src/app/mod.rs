//! An application: what was declared, put to work.

mod asking;
mod declared;
mod entrance;
mod event_store;
mod processing;
mod projections;
mod reacting;
mod reactions;
mod stopping;
mod token;

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::{
    Error, Result,
    command::{Bus, Clock, Handle, Inject, Registry, RegistryBuilder, Services},
    config::Config,
    event::{Event, Upcast, Upcasters},
    http::{
        self, LiveLimits, LiveQueries, Surface, auth,
        health::{Health, Lifecycle},
        openapi,
    },
    metrics, net,
    projection::{Database, Processor, Project, ReadModelDescriptor, ReadModels},
    query::{Answer, QueryDescriptor, Route},
    reaction::{React, ReactionDescriptor, Reactions},
    schema_lock, settings,
    state::Snapshots,
    store::EventStore,
    telemetry::{Telemetry, milliseconds_since},
};

use declared::{declared_settings, queries, read_models};
use entrance::Entrance;
use event_store::OpenStore;
use processing::Processing;
use stopping::stop_requested;

/// An application. [`App::run`] is all that a `main` needs.
///
/// ```
/// use es_framework::{App, prelude::*};
///
/// let clock = Clock::at("2026-07-01T12:00:00Z".parse()?); // for a demonstration
/// let app = App::new("library-service").provide(clock);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct App {
    name: &'static str,
    registry: RegistryBuilder,
    models: Vec<ReadModelDescriptor>,
    queries: Vec<QueryDescriptor>,
    reactions: Vec<ReactionDescriptor>,
    services: Services,
}

impl App {
    /// An application of this name, which is also the source of its events, with everything that
    /// `#[derive(Command)]` and `#[derive(Event)]` declared.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            registry: Registry::builder().linked(),
            models: inventory::iter::<ReadModelDescriptor>().copied().collect(),
            queries: inventory::iter::<QueryDescriptor>().copied().collect(),
            reactions: inventory::iter::<ReactionDescriptor>().copied().collect(),
            services: Services::default().with(Clock::system()),
        }
    }

    /// Adds a command by its type, whether or not it was found by itself.
    #[must_use]
    pub fn register<C: Handle>(mut self) -> Self {
        self.registry = self.registry.command::<C>();
        self
    }

    /// Adds an event by its type, whether or not it was found by itself.
    #[must_use]
    pub fn register_event<E: Event>(mut self) -> Self {
        self.registry = self.registry.event::<E>();
        self
    }

    /// Adds a read model by its type, whether or not it was found by itself.
    #[must_use]
    pub fn register_read_model<R: Project>(mut self) -> Self {
        self.models.push(ReadModelDescriptor::of::<R>());
        self
    }

    /// Adds a query by its type, whether or not it was found by itself.
    #[must_use]
    pub fn register_query<Q: Answer>(mut self) -> Self {
        self.queries.push(QueryDescriptor::of::<Q>());
        self
    }

    /// Adds a reaction by its type, whether or not it was found by itself.
    #[must_use]
    pub fn register_reaction<R: React>(mut self) -> Self {
        self.reactions.push(ReactionDescriptor::of::<R>());
        self
    }

    /// Adds the upcaster of an old event by the event's type, whether or not it was found by itself.
    #[must_use]
    pub fn register_upcaster<E: Upcast>(mut self) -> Self {
        self.registry = self.registry.upcaster::<E>();
        self
    }

    /// Gives handlers a value of a type with `#[derive(Service)]`, or another [`Clock`].
    #[must_use]
    pub fn provide<T: Inject>(mut self, value: T) -> Self {
        self.services = self.services.with(value);
        self
    }

    /// Serves what the Cargo package of this name declares. Needed once declarations come from
    /// more than one package; then each that is to be served has to be named.
    #[must_use]
    pub fn mount(mut self, package: impl Into<String>) -> Self {
        self.registry = self.registry.mount(package);
        self
    }

    /// Reads the settings from the command line and the environment, and serves until it is told
    /// to stop by SIGINT or SIGTERM. `--help` and a wrong setting end the process.
    ///
    /// # Errors
    /// One sentence on why the application could not start.
    pub fn run(self) -> Result<()> {
        let name = self.name;
        let registry = self
            .registry
            .build()
            .map_err(|error| refused(name, error))?;
        let models = read_models(&registry, self.models).map_err(|error| refused(name, error))?;
        let (queries, models) =
            queries(&registry, self.queries, models).map_err(|error| refused(name, error))?;
        let reacting =
            reacting::declared(&registry, self.reactions).map_err(|error| refused(name, error))?;
        let settings = declared_settings(&registry, &reacting);
        let command = Config::command().name(name);
        settings::check(&command, &settings).map_err(|error| refused(name, error))?;
        let arguments = settings.iter().flat_map(|settings| (settings.arguments)());
        let command = command.args(arguments);
        let command = command
            .subcommand(schema_lock::cli::command())
            .subcommand(openapi::cli::command())
            .subcommand(auth::cli::command())
            .subcommand(projections::command())
            .subcommand(reactions::command())
            .subcommand_negates_reqs(true);
        let matches = command.get_matches();
        if let Some((schema_lock::cli::NAME, matches)) = matches.subcommand() {
            return schema_lock::cli::run(matches, &registry);
        }
        if let Some((auth::cli::NAME, matches)) = matches.subcommand() {
            return auth::cli::run(matches);
        }
        if let Some((projections::NAME, matches)) = matches.subcommand() {
            return projections::run(matches);
        }
        if let Some((reactions::NAME, matches)) = matches.subcommand() {
            return reactions::run(matches);
        }
        let queries = queries.routes(&models);
        if let Some(matches) = matches.subcommand_matches(openapi::cli::NAME) {
            return openapi::cli::run(matches, name, &registry, &queries);
        }
        let config = Config::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let mut services = self.services;
        for settings in settings {
            let provided = (settings.provide)(&matches, services);
            services = provided.unwrap_or_else(|error| error.exit());
        }
        registry
            .check_services(&services)
            .map_err(|error| refused(name, error))?;
        reacting
            .check_services(&services)
            .map_err(|error| refused(name, error))?;
        let served = Served {
            registry,
            reactions: reacting,
            services,
            queries,
            models,
        };
        let telemetry = Telemetry::begin(name, &config.telemetry)?;
        metrics::install();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?;
        let ended = runtime.block_on(serve(name, served, config, stop_requested()));
        // What is still busy on the disk by then is nothing that anybody waits for.
        runtime.shutdown_timeout(Duration::from_secs(1));
        telemetry.end();
        ended
    }
}

/// What is served.
struct Served {
    registry: Registry,
    reactions: Reactions,
    services: Services,
    models: ReadModels,
    queries: Vec<Route>,
}

async fn serve(
    name: &'static str,
    served: Served,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let (begin, lifecycle) = (Instant::now(), Lifecycle::begin(name));
    let entrance = Entrance::open(name, &config).await?;
    let url = entrance.url()?;
    let store = OpenStore::open(&config).await?;
    let database = open_database(&config, &served.models).await?;
    let upcasters = served.registry.upcasters();
    let processor = Processor::new(store.port(), database.clone(), served.models)
        .with_upcasters(upcasters.clone());
    let bus =
        bus(name, &config, store.port(), upcasters.clone()).with_services(served.services.clone());
    let reactors = reacting::reactors(
        served.reactions,
        bus.clone(),
        store.port(),
        source(name, &config),
        served.services.clone(),
        upcasters,
    );
    let (reacting, reactions) = reacting::start(reactors, &lifecycle)?;
    let live = live_queries(&config);
    let surface = Surface {
        live: live.clone(),
        clock: served.services.clock(),
        bus,
        positions: processor.positions(),
        health: Health {
            store: store.port(),
            database: database.clone(),
            positions: processor.positions(),
            reactions: reactions.statuses().clone(),
            folder: store.folder(),
            certificates: config.event_store_ca_file.clone(),
            lifecycle: lifecycle.clone(),
            tls: entrance.door.tls.clone(),
        },
        database,
        limits: config.limits.of_requests(),
        auth: entrance.auth,
        rate: config.surface.rate(),
        browsers: config.surface.browsers(),
        metadata_headers: config.event_metadata_headers.clone(),
        metadata_caller: config.auth.event_metadata_caller,
        operator: processor.operator(),
        reactions,
        operator_token: Some(store.token()),
    };
    log_routes(&served.registry, &served.queries);
    let router = http::router(name, &served.registry, served.queries, surface);
    let failure = "the read models cannot be followed";
    let processing = Processing::start("read-models", failure, processor.run(), &lifecycle)?;
    tracing::info!("{name} listens on {url}");
    tracing::info!("try it out at {url}{}", http::docs::PATH);
    tracing::info!(milliseconds = milliseconds_since(begin), "the start took");
    let drain = Duration::from_secs(config.shutdown_timeout);
    let stopping = async {
        shutdown.await;
        tracing::info!("{name} stops: open requests have {drain:?} to end");
        lifecycle.stop();
        live.end();
        store.stop();
    };
    let limits = config.limits.of_connections(drain);
    net::serve(entrance.door, router, limits, stopping).await;
    processing.stop();
    reacting.stop();
    store.close().await;
    tracing::info!("{name} has stopped");
    Ok(())
}

async fn open_database(config: &Config, models: &ReadModels) -> Result<Database> {
    let url = &config.database_url;
    let database = Database::open_within(url, models, config.limits.query_time())
        .await
        .map_err(|error| Error::because("the read models cannot be set up", error))?;
    tracing::info!("read models are kept in {}, {url}", database.kind());
    Ok(database)
}

fn source<'a>(name: &'a str, config: &'a Config) -> &'a str {
    config.event_source.as_deref().unwrap_or(name)
}

/// Publishes under the application's name, unless the settings say otherwise.
fn bus(name: &str, config: &Config, store: Arc<dyn EventStore>, upcasters: Upcasters) -> Bus {
    Bus::new(store, source(name, config))
        .with_upcasters(upcasters)
        .with_snapshots(Snapshots::in_file(config.snapshots()))
}

fn live_queries(config: &Config) -> LiveQueries {
    LiveQueries::new(LiveLimits {
        open: config.live_queries.into(),
        ..LiveLimits::default()
    })
}

fn refused(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::because(format!("{name} does not start"), error)
}

fn log_routes(registry: &Registry, queries: &[Route]) {
    for command in registry.commands() {
        let way = match command.is_internal() {
            true => "by reactions alone".to_owned(),
            false => format!("POST {}", command.path),
        };
        tracing::info!(
            "{way} -> {} ({}), handled at {}",
            command.name,
            command.declaration,
            command.handler
        );
    }
    for query in queries {
        tracing::info!("GET {} ({})", query.path, query.declaration);
    }
    tracing::info!(
        "GET /actuator/health, /actuator/info, /actuator/prometheus, /actuator/projections, /actuator/reactions"
    );
}
