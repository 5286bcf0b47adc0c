//! The defaults of settings that a test does not give.

use clap::builder::Resettable;

use es_command::{
    command::{Parameter, ParameterOrigin, ServiceType, Services},
    settings::SettingsDescriptor,
};

/// Returns the services and the settings among the parameters of a handler.
pub(crate) fn services_of(parameters: Vec<Parameter>) -> Vec<ServiceType> {
    let parameters = parameters.into_iter();
    let services = parameters.filter_map(|parameter| match parameter.origin {
        ParameterOrigin::Service(service) => Some(service),
        ParameterOrigin::State(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => None,
    });
    services.collect()
}

/// Provides the defaults of the settings that a handler takes and the test does not give. The
/// environment of the test has no effect.
#[allow(clippy::panic, reason = "a test fails by panicking")]
#[track_caller]
pub(crate) fn with_default_settings(
    mut services: Services,
    taken: &[ServiceType],
    by: &str,
) -> Services {
    for service in taken {
        if services.provides(*service) {
            continue;
        }
        let declared = inventory::iter::<SettingsDescriptor>;
        let Some(settings) = declared.into_iter().find(|one| one.service == *service) else {
            panic!(
                "{by} takes `&{0}`: give it one, as in `given().with({0} {{ … }})`",
                service.name
            );
        };
        services = match with_defaults(services.clone(), settings) {
            Ok(services) => services,
            Err(error) => panic!(
                "the settings {0} have no default: give them, as in `given().with({0} {{ … }})`: {error}",
                service.name
            ),
        };
    }
    services
}

/// Provides settings with their defaults.
pub(crate) fn with_defaults(
    services: Services,
    settings: &SettingsDescriptor,
) -> Result<Services, clap::Error> {
    let arguments = (settings.arguments)()
        .into_iter()
        .map(|argument| argument.env(Resettable::<clap::builder::OsStr>::Reset));
    let matches = clap::Command::new("test")
        .args(arguments)
        .try_get_matches_from(["test"])?;
    (settings.provide)(&matches, services)
}
