//! Settings that an application declares: flags, with environment variables behind them, that
//! handlers take as parameters.

mod clash;
mod parser;

pub use clash::FlagClash;
pub use clash::check_clashes;
pub use parser::{SettingValue, parser};

use clap::{Arg, ArgMatches, error::ErrorKind};

use crate::command::{Inject, ServiceType, Services};
use es_event::Declaration;

/// Settings of an application. `#[derive(Settings)]` implements it.
///
/// ```
/// use es_framework::{prelude::*, settings::DeclaredSettings as _};
///
/// /// What the library allows its readers.
/// #[derive(Settings)]
/// struct Lending {
///     /// How many days a copy is lent for.
///     #[setting(default = 28)]
///     loan_days: u32,
/// }
///
/// let command = clap::Command::new("library-app").args(Lending::arguments());
/// let matches = command.get_matches_from(["library-app", "--loan-days", "14"]);
/// assert_eq!(Lending::read(&matches)?.loan_days, 14);
/// # Ok::<_, clap::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold settings",
    label = "these are no settings",
    note = "put `#[derive(Settings)]` on the struct `{Self}`"
)]
pub trait DeclaredSettings: Inject + Sized {
    /// The place in the source where the struct is declared.
    const DECLARATION: Declaration;
    /// True if the application does not warn at its start when nothing takes the settings.
    const MAY_BE_UNUSED: bool = false;

    /// Returns the arguments of the command line, one for each field.
    fn arguments() -> Vec<Arg>;

    /// Creates the settings from the parsed arguments. A setting that is not given has its default.
    ///
    /// # Errors
    /// A value is missing; clap has reported those that are wrong.
    fn read(matches: &ArgMatches) -> Result<Self, clap::Error>;
}

/// The descriptor of a `#[derive(Settings)]` struct, without its Rust type.
///
/// ```
/// use es_framework::{prelude::*, settings::SettingsDescriptor};
///
/// #[derive(Settings)]
/// struct Lending {
///     /// How many copies a reader may have.
///     #[setting(default = 3)]
///     copies_at_once: u32,
/// }
///
/// let lending = SettingsDescriptor::of::<Lending>("Lending");
/// assert_eq!((lending.service.name, (lending.arguments)().len()), ("Lending", 1));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SettingsDescriptor {
    /// The type that handlers take.
    pub service: ServiceType,
    /// The place in the source where the struct is declared.
    pub declaration: Declaration,
    /// True if the application does not warn at its start when nothing takes the settings.
    pub may_be_unused: bool,
    /// Returns the arguments of the command line, one for each field. No output repeats their values.
    pub arguments: fn() -> Vec<Arg>,
    /// Reads the values and provides handlers with them.
    pub provide: fn(&ArgMatches, Services) -> Result<Services, clap::Error>,
}

inventory::collect!(SettingsDescriptor);

/// Each value may be a secret, such as the key that signs a webhook: `--help` and errors do not print it.
fn hidden_arguments<S: DeclaredSettings>() -> Vec<Arg> {
    let arguments = S::arguments().into_iter();
    arguments.map(|one| one.hide_env_values(true)).collect()
}

impl SettingsDescriptor {
    /// Creates the descriptor of the settings `S`, which get this name.
    #[must_use]
    pub const fn of<S: DeclaredSettings>(name: &'static str) -> Self {
        Self {
            service: ServiceType::of::<S>(name),
            declaration: S::DECLARATION,
            may_be_unused: S::MAY_BE_UNUSED,
            arguments: hidden_arguments::<S>,
            provide: |matches, services| Ok(services.with(S::read(matches)?)),
        }
    }
}

/// Returns every `#[derive(Settings)]` struct for which `is_wanted` is true, in the order of the source.
#[doc(hidden)]
pub fn declared_settings(
    is_wanted: impl Fn(&SettingsDescriptor) -> bool,
) -> Vec<&'static SettingsDescriptor> {
    let mut settings: Vec<_> = inventory::iter::<SettingsDescriptor>()
        .filter(|settings| is_wanted(settings))
        .collect();
    settings.sort_by_key(|settings| settings.declaration);
    settings
}

/// Returns the value of one setting. The code that `#[derive(Settings)]` generates calls it.
///
/// ```
/// use clap::{Arg, Command};
/// use es_framework::settings::{parser, setting_value};
///
/// let days = Arg::new("loan_days").long("loan-days").value_parser(parser::<u32>());
/// let command = Command::new("library-app").arg(days);
/// let matches = command.get_matches_from(["library-app", "--loan-days", "14"]);
/// assert_eq!(setting_value::<u32>(&matches, "loan_days")?, 14);
/// assert!(setting_value::<u32>(&matches, "copies_at_once").is_err());
/// # Ok::<_, clap::Error>(())
/// ```
///
/// # Errors
/// The setting was not given and has no default.
pub fn setting_value<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &'static str,
) -> Result<T, clap::Error> {
    let value = matches.try_get_one::<T>(name).ok().flatten().cloned();
    value.ok_or_else(|| {
        let message = format!("the setting {name} has no value\n");
        clap::Error::raw(ErrorKind::MissingRequiredArgument, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[derive(Settings)]
    struct Hooks {
        /// The secret that signs a webhook.
        #[setting(env = "PATH")]
        #[allow(dead_code)]
        signing_secret: String,
    }

    #[test]
    fn the_help_prints_no_value_of_a_declared_setting() {
        let hooks = SettingsDescriptor::of::<Hooks>("Hooks");
        let mut command = clap::Command::new("library-app").args((hooks.arguments)());
        let help = command.render_long_help().to_string();
        assert!(help.contains("[env: PATH]"), "{help}");
    }
}
