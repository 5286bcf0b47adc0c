//! An application at work: all that it needs is opened, and it serves until it is told to stop.

use std::time::{Duration, Instant};

use super::{
    entrance::Entrance, event_store::OpenStore, processing::Processing, reacting, refused,
};
use crate::{
    Error, Result,
    command::{Clock, CommandBus, Registry, Services},
    config::Config,
    event::Upcasters,
    http::{
        self, LiveLimits, LiveQueries, Surface,
        health::{Health, Lifecycle},
    },
    net,
    projection::{Database, Processor, ReadModels},
    query::QueryRoute,
    reaction::{Operator, Reactions},
    state::Snapshots,
    telemetry::milliseconds_since,
};

/// What is served.
pub(super) struct Served {
    pub(super) registry: Registry,
    pub(super) reactions: Reactions,
    pub(super) services: Services,
    pub(super) models: ReadModels,
    pub(super) queries: Vec<QueryRoute>,
}

impl Served {
    /// Whether everything is provided that handlers and calls take.
    pub(super) fn check_services(&self, name: &str) -> Result<()> {
        let by_handlers = self.registry.check_services(&self.services);
        by_handlers.map_err(|error| refused(name, error))?;
        let by_reactions = self.reactions.check_services(&self.services);
        by_reactions.map_err(|error| refused(name, error))
    }
}

pub(super) async fn serve(
    name: &'static str,
    served: Served,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let begin = Instant::now();
    let opened = Opened::open(name, config, &served.models).await?;
    let url = opened.entrance.url()?;
    let upcasters = served.registry.upcasters();
    let processor = opened.processor(served.models, upcasters.clone());
    let bus = opened.bus(served.services.clone(), upcasters.clone());
    let runner = reacting::reaction_runner(
        served.reactions,
        bus.clone(),
        opened.store.port(),
        opened.source(),
        served.services.clone(),
        upcasters,
    );
    let (reacting, reactions) = reacting::start(runner, &opened.lifecycle)?;
    let live = opened.live_queries();
    let clock = served.services.clock();
    let surface = opened.surface(bus, clock, &processor, reactions, live.clone());
    log_routes(&served.registry, &served.queries);
    let router = http::router(name, &served.registry, served.queries, surface);
    let failure = "the read models cannot be followed";
    let processing = Processing::start("read-models", failure, processor.run(), &opened.lifecycle)?;
    tracing::info!("{name} listens on {url}");
    tracing::info!("try it out at {url}{}", http::docs::PATH);
    tracing::info!(milliseconds = milliseconds_since(begin), "the start took");
    opened
        .answer(router, live, shutdown, [processing, reacting])
        .await;
    tracing::info!("{name} has stopped");
    Ok(())
}

/// What has to be there before anything is served.
struct Opened {
    name: &'static str,
    config: Config,
    lifecycle: Lifecycle,
    entrance: Entrance,
    store: OpenStore,
    database: Database,
}

impl Opened {
    async fn open(name: &'static str, config: Config, models: &ReadModels) -> Result<Self> {
        let lifecycle = Lifecycle::begin(name);
        let entrance = Entrance::open(name, &config).await?;
        let store = OpenStore::open(&config).await?;
        let database = open_database(&config, models).await?;
        Ok(Self {
            name,
            config,
            lifecycle,
            entrance,
            store,
            database,
        })
    }

    /// Events are published under the application's name, unless the settings say otherwise.
    fn source(&self) -> &str {
        self.config.event_source.as_deref().unwrap_or(self.name)
    }

    fn processor(&self, models: ReadModels, upcasters: Upcasters) -> Processor {
        Processor::new(self.store.port(), self.database.clone(), models).with_upcasters(upcasters)
    }

    fn bus(&self, services: Services, upcasters: Upcasters) -> CommandBus {
        CommandBus::new(self.store.port(), self.source())
            .with_upcasters(upcasters)
            .with_snapshots(Snapshots::in_file(self.config.snapshots()))
            .with_services(services)
    }

    fn live_queries(&self) -> LiveQueries {
        LiveQueries::new(LiveLimits {
            open: self.config.live_queries.into(),
            ..LiveLimits::default()
        })
    }

    fn surface(
        &self,
        bus: CommandBus,
        clock: Clock,
        processor: &Processor,
        reactions: Operator,
        live: LiveQueries,
    ) -> Surface {
        let config = &self.config;
        Surface {
            live,
            clock,
            bus,
            positions: processor.positions(),
            health: self.health(processor, &reactions),
            database: self.database.clone(),
            limits: config.limits.of_requests(),
            auth: self.entrance.auth.clone(),
            rate: config.surface.rate(),
            browsers: config.surface.browsers(),
            metadata_headers: config.event_metadata_headers.clone(),
            metadata_caller: config.auth.event_metadata_caller,
            operator: processor.operator(),
            reactions,
            operator_token: Some(self.store.token()),
        }
    }

    fn health(&self, processor: &Processor, reactions: &Operator) -> Health {
        Health {
            store: self.store.port(),
            database: self.database.clone(),
            positions: processor.positions(),
            reactions: reactions.statuses().clone(),
            folder: self.store.folder(),
            certificates: self.config.event_store_ca_file.clone(),
            lifecycle: self.lifecycle.clone(),
            tls: self.entrance.listener.tls.clone(),
        }
    }

    /// Answers requests until the shutdown, and ends what goes on beside them.
    async fn answer(
        self,
        router: axum::Router,
        live: LiveQueries,
        shutdown: impl Future<Output = ()>,
        beside: [Processing; 2],
    ) {
        let name = self.name;
        let drain = Duration::from_secs(self.config.shutdown_timeout);
        let stopping = async {
            shutdown.await;
            tracing::info!("{name} stops: open requests have {drain:?} to end");
            self.lifecycle.stop();
            live.end();
            self.store.stop();
        };
        let limits = self.config.limits.of_connections(drain);
        net::serve(self.entrance.listener, router, limits, stopping).await;
        beside.into_iter().for_each(Processing::stop);
        self.store.close().await;
    }
}

async fn open_database(config: &Config, models: &ReadModels) -> Result<Database> {
    let url = &config.database_url;
    let database = Database::open_within(url, models, config.limits.query_time())
        .await
        .map_err(|error| Error::because("the read models cannot be set up", error))?;
    tracing::info!("read models are kept in {}, {url}", database.kind());
    Ok(database)
}

fn log_routes(registry: &Registry, queries: &[QueryRoute]) {
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
