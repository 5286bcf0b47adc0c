//! An application: what was declared, put to work.

mod asking;
mod command_line;
mod declared;
mod entrance;
mod event_store;
mod processing;
mod projections;
mod reacting;
mod reactions;
mod schema_lock_cli;
mod serving;
mod stopping;
mod token;

use std::time::Duration;

use clap::FromArgMatches as _;

use crate::{
    Error, Result,
    command::{Clock, Handle, Inject, Registry, RegistryBuilder, Services},
    config::Config,
    event::{Event, Upcast},
    metrics,
    projection::{Project, ReadModelDescriptor},
    query::{QueryDescriptor, QueryHandler},
    reaction::{React, ReactionDescriptor},
    telemetry::Telemetry,
};

use command_line::{command_line, subcommand};
use declared::{declared_settings, queries, read_models};
use serving::{Served, serve};
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
    pub fn register_query<Q: QueryHandler>(mut self) -> Self {
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
        let mut served = self.served()?;
        let settings = declared_settings(&served.registry, &served.reactions);
        let matches = command_line(name, &settings)?.get_matches();
        if let Some(done) = subcommand(&matches, name, &served) {
            return done;
        }
        let config = Config::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        for settings in settings {
            let provided = (settings.provide)(&matches, served.services);
            served.services = provided.unwrap_or_else(|error| error.exit());
        }
        served.check_services(name)?;
        let telemetry = Telemetry::start(name, &config.telemetry)?;
        metrics::install();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?;
        let ended = runtime.block_on(serve(name, served, config, stop_requested()));
        // What is still busy on the disk by then is nothing that anybody waits for.
        runtime.shutdown_timeout(Duration::from_secs(1));
        telemetry.shut_down();
        ended
    }

    /// What is declared, once it is clear that it fits together.
    fn served(self) -> Result<Served> {
        let name = self.name;
        let registry = self.registry.build();
        let registry = registry.map_err(|error| refused(name, error))?;
        let models = read_models(&registry, self.models).map_err(|error| refused(name, error))?;
        let (queries, models) =
            queries(&registry, self.queries, models).map_err(|error| refused(name, error))?;
        let reactions =
            reacting::declared(&registry, self.reactions).map_err(|error| refused(name, error))?;
        Ok(Served {
            queries: queries.routes(&models),
            services: self.services,
            registry,
            reactions,
            models,
        })
    }
}

fn refused(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::because(format!("{name} does not start"), error)
}
