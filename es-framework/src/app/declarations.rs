//! The declarations that an application serves.

use std::{collections::BTreeSet, sync::Arc};

use clap::CommandFactory as _;
use es_model::ApplicationModel;
use es_runtime::hide_secrets_in_error;

use super::{App, start_checks};
use crate::{
    Declaration, Error, Result,
    command::{Registry, Services},
    config::SettingsArguments,
    http::{CustomRoutes, HttpContext},
    projection::ReadModels,
    query::{Queries, QueryRoute},
    reaction::Reactions,
    settings::{self, SettingsDescriptor},
};

/// The declarations that an application serves, after they are checked against each other.
pub(super) struct Declarations {
    pub(super) name: &'static str,
    pub(super) registry: Registry,
    pub(super) reactions: Reactions,
    pub(super) services: Services,
    pub(super) models: ReadModels,
    pub(super) queries: Vec<QueryRoute>,
    pub(super) custom: CustomRoutes<Arc<HttpContext>>,
}

impl App {
    /// Collects the declarations of the packages that are served, and checks that they fit together.
    pub(super) fn into_declarations(self) -> Result<Declarations> {
        let name = self.name;
        let registry = self.registry.build();
        let registry = registry.map_err(|error| start_error(name, error))?;
        let is_served = |declaration| is_served(&registry, declaration);
        let models = self.models.into_iter();
        let models = ReadModels::new(models.filter(|model| is_served(model.declaration)))
            .map_err(|error| start_error(name, error))?;
        let queries = self.queries.into_iter();
        let queries = queries.filter(|query| is_served(query.declaration));
        let (queries, models) =
            Queries::new(queries, models).map_err(|error| start_error(name, error))?;
        let reactions = self.reactions.into_iter();
        let reactions = Reactions::new(reactions.filter(|one| is_served(one.declaration)))
            .map_err(|error| start_error(name, error))?;
        if let Some(contradiction) = start_checks::find_contradiction(&registry, &models) {
            return Err(start_error(name, contradiction));
        }
        Ok(Declarations {
            name,
            queries: queries.routes(&models),
            services: self.services,
            custom: self.custom,
            registry,
            reactions,
            models,
        })
    }
}

impl Declarations {
    /// Returns the settings that handlers and reactions take and that no code provides.
    pub(super) fn unprovided_settings(&self) -> Vec<&'static SettingsDescriptor> {
        settings::declared_settings(|settings| {
            let by_handlers = self
                .registry
                .required_services()
                .map(|(service, _)| service);
            let by_reactions = self
                .reactions
                .required_services()
                .map(|(service, _)| service);
            let mut services = by_handlers.chain(by_reactions);
            services.any(|service| service == settings.service)
                && !self.services.provides(settings.service)
        })
    }

    /// Reads the settings that no code provides from the environment, and adds them to the services.
    pub(super) fn read_unprovided_settings(&mut self) -> Result<()> {
        let declared = self.unprovided_settings();
        let framework = SettingsArguments::command();
        settings::check_clashes(&framework, &declared)
            .map_err(|error| start_error(self.name, error))?;
        let mut command = clap::Command::new(self.name)
            .no_binary_name(true)
            .args(declared.iter().flat_map(|settings| (settings.arguments)()));
        let matches = command.try_get_matches_from_mut(std::iter::empty::<&str>());
        let matches = matches
            .map_err(|error| start_error(self.name, hide_secrets_in_error(error, &command)))?;
        for settings in declared {
            let provided = (settings.provide)(&matches, self.services.clone());
            self.services = provided.map_err(|error| start_error(self.name, error))?;
        }
        Ok(())
    }

    /// Checks that every service that handlers and reactions take is provided.
    pub(super) fn check_services(&self) -> Result<()> {
        let by_handlers = self.registry.check_services(&self.services);
        by_handlers.map_err(|error| start_error(self.name, error))?;
        let by_reactions = self.reactions.check_services(&self.services);
        by_reactions.map_err(|error| start_error(self.name, error))
    }

    /// Returns the model of the application.
    pub(super) fn build_application_model(&self) -> ApplicationModel {
        ApplicationModel::from_declarations(
            self.name,
            &self.registry,
            &self.reactions,
            &self.models,
            &self.queries,
        )
    }

    /// Logs one warning for each probable mistake in the declarations. `roles` are all roles that a caller
    /// can have, if that is known.
    pub(super) fn log_probable_mistakes(&self, roles: Option<&BTreeSet<String>>) {
        let Self {
            registry,
            models,
            reactions,
            queries,
            ..
        } = self;
        let mut warnings = start_checks::find_probable_mistakes(registry, models, reactions);
        warnings.extend(self.unused_settings());
        if let Some(roles) = roles {
            warnings.extend(start_checks::find_unknown_roles(registry, queries, roles));
        }
        for warning in warnings {
            tracing::warn!("{warning}");
        }
    }

    /// Returns the settings of the served packages that no handler and no reaction takes.
    fn unused_settings(&self) -> Vec<start_checks::DeclarationWarning> {
        let declared =
            settings::declared_settings(|settings| is_served(&self.registry, settings.declaration));
        let by_handlers = self
            .registry
            .required_services()
            .map(|(service, _)| service);
        let by_reactions = self
            .reactions
            .required_services()
            .map(|(service, _)| service);
        let used: Vec<_> = by_handlers.chain(by_reactions).collect();
        start_checks::find_unused_settings(&declared, |settings| used.contains(&settings.service))
    }

    /// Logs the routes that the declarations lead to.
    pub(super) fn log_routes(&self) {
        for command in self.registry.commands() {
            let route = if command.is_internal() {
                "by reactions alone".to_owned()
            } else {
                format!("POST {}", command.path)
            };
            tracing::info!(
                "{route} -> {} ({}), handled at {}",
                command.name,
                command.declaration,
                command.handler
            );
        }
        for query in &self.queries {
            tracing::info!("GET {} ({})", query.path, query.declaration);
        }
        tracing::info!(
            "GET /actuator/health, /actuator/info, /actuator/prometheus, /actuator/projections, /actuator/reactions"
        );
    }
}

/// Returns whether something is declared in one of the packages that are served.
fn is_served(registry: &Registry, declaration: Declaration) -> bool {
    let commands = registry.commands().iter().map(|one| one.declaration);
    let events = registry.events().iter().map(|one| one.declaration);
    let mut served = commands.chain(events);
    served.any(|one| one.package == declaration.package)
}

/// Returns the error of an application that does not start.
pub(super) fn start_error(
    name: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::because(format!("{name} does not start"), error)
}
