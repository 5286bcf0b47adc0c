//! The declarations that an application serves.

use std::{collections::BTreeSet, sync::Arc};

use clap::CommandFactory as _;
use es_net::hide_secrets_in_error;

use super::App;
use crate::{
    Error, Result,
    catalog::Catalog,
    command::Services,
    config::SettingsArguments,
    http::{CustomRoutes, HttpContext},
    reaction::{ReactionTiming, Schedule},
    settings::{self, SettingsDescriptor},
};

/// The declarations that an application serves, and its own code beside them.
pub(super) struct Declarations {
    pub(super) name: &'static str,
    pub(super) catalog: Catalog,
    pub(super) services: Services,
    pub(super) custom: CustomRoutes<Arc<HttpContext>>,
}

impl App {
    /// Collects the declarations of the packages that are served, and checks that they fit together.
    pub(super) fn into_declarations(self) -> Result<Declarations> {
        let name = self.name;
        let catalog = self.catalog.build();
        Ok(Declarations {
            name,
            catalog: catalog.map_err(|error| start_error(name, error))?,
            services: self.services,
            custom: self.custom,
        })
    }
}

impl Declarations {
    /// Returns the settings that handlers and reactions take and that no code provides.
    pub(super) fn unprovided_settings(&self) -> Vec<&'static SettingsDescriptor> {
        settings::declared_settings(|settings| {
            let mut services = self.catalog.required_services();
            services.any(|(service, _)| service == settings.service)
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
        let checked = self.catalog.check_services(&self.services);
        checked.map_err(|error| start_error(self.name, error))
    }

    /// Logs a warning for each probable mistake in the declarations. `roles` are all roles that a caller can have,
    /// if that is known.
    pub(super) fn log_findings(&self, roles: Option<&BTreeSet<String>>) {
        for finding in self.catalog.findings(roles) {
            tracing::warn!("{finding}");
        }
    }

    /// Logs the routes and the schedules that the declarations lead to.
    pub(super) fn log_routes(&self) {
        for command in self.catalog.commands() {
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
        for query in self.catalog.queries() {
            tracing::info!("GET {} ({})", query.path, query.declaration);
        }
        for reaction in self.catalog.reactions().iter() {
            for step in reaction.steps {
                if let ReactionTiming::Schedule(Schedule { cron, zone, .. }) = step.when {
                    let (name, step, place) = (reaction.name, step.name, reaction.declaration);
                    tracing::info!("{cron} {zone} -> {name}::{step} ({place})");
                }
            }
        }
        tracing::info!(
            "GET /actuator/health, /actuator/info, /actuator/prometheus, /actuator/projections, /actuator/reactions"
        );
    }
}

/// Returns the error of an application that does not start.
pub(super) fn start_error(
    name: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::because(format!("{name} does not start"), error)
}
