//! The builder of an application.

mod application;
mod background;
mod command_line;
#[cfg(feature = "console")]
mod console;
mod declarations;
mod describe_subcommand;
#[cfg(feature = "embedded")]
mod embedded_store;
mod event_import;
mod event_store;
mod in_process_client;
mod listener;
mod opened_store;
pub(crate) mod personal_data;
#[cfg(feature = "postgres")]
mod postgres_store;
mod read_models;
mod run;
mod sinks;
mod state_database;
#[cfg(feature = "server")]
mod store_api;
mod unique_claims;
mod unique_values;

use std::{convert::Infallible, fmt, sync::Arc};

use axum::{Router, extract::Request, response::IntoResponse, routing::Route};
use tower::{Layer, Service};

use crate::{
    Result,
    catalog::{Catalog, CatalogBuilder},
    command::{Clock, Handle, Inject, Services},
    config::Settings,
    event::{Event, Upcast},
    http::{CustomRoutes, HttpContext},
    projection::Project,
    query::QueryHandler,
    reaction::React,
    store::EventStore,
};

pub use application::Application;
pub use in_process_client::{ApplicationClient, ClientResponse};

/// The builder of an application. [`App::run`] is all that a `main` needs.
///
/// ```
/// use es_framework::{App, prelude::*};
///
/// let clock = Clock::at("2026-07-01T12:00:00Z".parse()?); // for a demonstration
/// let app = App::new("library-service").provide(clock);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct App {
    name: &'static str,
    catalog: CatalogBuilder,
    services: Services,
    custom: CustomRoutes<Arc<HttpContext>>,
    settings: Option<Settings>,
    event_store: Option<Arc<dyn EventStore>>,
}

impl App {
    /// Creates the builder of an application of this name, which is also the source of its events,
    /// with everything that `#[derive(Command)]` and `#[derive(Event)]` declared. It also chooses the cryptography of TLS
    /// for the whole program, which clients of reqwest need: create them afterwards.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        // An application whose service uses reqwest creates its client before the application starts, but after this:
        // reqwest has no feature that brings ring.
        es_net::tls::install_cryptography();
        Self {
            name,
            catalog: Catalog::builder().linked(),
            services: Services::default().with(Clock::system()),
            custom: CustomRoutes::default(),
            settings: None,
            event_store: None,
        }
    }

    /// Adds a command by its type. Adding the same command again changes nothing.
    #[must_use]
    pub fn register<C: Handle>(mut self) -> Self {
        self.catalog = self.catalog.command::<C>();
        self
    }

    /// Adds an event by its type. Adding the same event again changes nothing.
    #[must_use]
    pub fn register_event<E: Event>(mut self) -> Self {
        self.catalog = self.catalog.event::<E>();
        self
    }

    /// Adds a read model by its type. Adding the same read model again changes nothing.
    #[must_use]
    pub fn register_read_model<R: Project>(mut self) -> Self {
        self.catalog = self.catalog.read_model::<R>();
        self
    }

    /// Adds a query by its type. Adding the same query again changes nothing.
    #[must_use]
    pub fn register_query<Q: QueryHandler>(mut self) -> Self {
        self.catalog = self.catalog.query::<Q>();
        self
    }

    /// Adds a reaction by its type. Adding the same reaction again changes nothing.
    #[must_use]
    pub fn register_reaction<R: React>(mut self) -> Self {
        self.catalog = self.catalog.reaction::<R>();
        self
    }

    /// Adds the upcaster of an old event by the event's type. Adding the same upcaster again changes
    /// nothing.
    #[must_use]
    pub fn register_upcaster<E: Upcast>(mut self) -> Self {
        self.catalog = self.catalog.upcaster::<E>();
        self
    }

    /// Provides handlers and reactions with a value of a type with `#[derive(Service)]` or
    /// `#[derive(Settings)]`, or with another [`Clock`].
    #[must_use]
    pub fn provide<T: Inject>(mut self, value: T) -> Self {
        self.services = self.services.with(value);
        self
    }

    /// Serves the declarations of the Cargo package of this name. An application whose declarations
    /// come from several packages has to mount each package that it serves.
    #[must_use]
    pub fn mount(mut self, package: impl Into<String>) -> Self {
        self.catalog = self.catalog.mount(package);
        self
    }

    /// Adds routes written with axum. They get the same limits, authentication and logging as the
    /// declared routes. [`App::build`] refuses a path that is declared already. The router's fallback
    /// is not used: unknown paths are answered 404.
    #[must_use]
    pub fn routes(mut self, router: Router) -> Self {
        self.custom.merge(router);
        self
    }

    /// Adds a tower layer around all routes. It runs inside of the limits and the log, and before
    /// the authentication. The layer that was added last runs first.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<Route> + Clone + Send + Sync + 'static,
        L::Service: Service<Request> + Clone + Send + Sync + 'static,
        <L::Service as Service<Request>>::Response: IntoResponse + 'static,
        <L::Service as Service<Request>>::Error: Into<Infallible> + 'static,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        self.custom.add_layer(move |router| router.layer(layer));
        self
    }

    /// Sets the framework's settings by code. Without it, [`App::run`] reads the command line, and
    /// [`App::build`] reads the environment.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Uses this event store instead of the one in the settings, such as a
    /// [`MemoryStore`](crate::store::memory::MemoryStore) in a test.
    #[must_use]
    pub fn event_store(mut self, store: Arc<dyn EventStore>) -> Self {
        self.event_store = Some(store);
        self
    }

    /// Builds the application: opens the event store and the database, and starts projections and
    /// reactions. It does not listen yet, starts no log, and handles no signal, so several
    /// applications can run in one process. Settings that the application declares come from
    /// [`App::provide`] or else from the environment.
    ///
    /// # Errors
    /// One sentence on the reason why the application cannot start.
    pub async fn build(mut self) -> Result<Application> {
        let settings = match self.settings.take() {
            Some(settings) => settings,
            None => Settings::from_env()?,
        };
        let store = self.event_store.take();
        let mut declarations = self.into_declarations()?;
        declarations.read_unprovided_settings()?;
        declarations.check_services()?;
        Application::build(declarations, settings, store).await
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
