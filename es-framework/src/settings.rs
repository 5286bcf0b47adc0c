//! Settings that an application declares: flags, with environment variables behind them, that
//! handlers take as parameters.

mod clash;
mod parser;

use clap::{Arg, ArgMatches, error::ErrorKind};

pub use clash::SettingsClash;
pub(crate) use clash::check;
pub use parser::{SettingValue, parser};

use crate::{
    Declaration,
    command::{Inject, ServiceKind, Services},
};

/// Settings of an application. `#[derive(Settings)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold settings",
    label = "these are no settings",
    note = "put `#[derive(Settings)]` on the struct `{Self}`"
)]
pub trait Settings: Inject + Sized {
    /// Where they are declared.
    const DECLARATION: Declaration;

    /// One argument for each field.
    fn arguments() -> Vec<Arg>;

    /// The values that were given, or the defaults.
    ///
    /// # Errors
    /// A value is missing; clap has reported those that are wrong.
    fn read(matches: &ArgMatches) -> Result<Self, clap::Error>;
}

/// A declaration of settings without its Rust type.
#[derive(Debug, Clone, Copy)]
pub struct SettingsDescriptor {
    /// The type that handlers take.
    pub kind: ServiceKind,
    /// Where they are declared.
    pub declaration: Declaration,
    /// One argument for each field.
    pub arguments: fn() -> Vec<Arg>,
    /// Reads the values and provides handlers with them.
    pub provide: fn(&ArgMatches, Services) -> Result<Services, clap::Error>,
}

inventory::collect!(SettingsDescriptor);

impl SettingsDescriptor {
    /// The descriptor of the settings `S`, which are called `name`.
    #[must_use]
    pub const fn of<S: Settings>(name: &'static str) -> Self {
        Self {
            kind: ServiceKind::of::<S>(name),
            declaration: S::DECLARATION,
            arguments: S::arguments,
            provide: |matches, services| Ok(services.with(S::read(matches)?)),
        }
    }
}

/// The declared settings that are wanted, in the order of their places.
pub(crate) fn declared(
    is_wanted: impl Fn(&SettingsDescriptor) -> bool,
) -> Vec<&'static SettingsDescriptor> {
    let mut settings: Vec<_> = inventory::iter::<SettingsDescriptor>()
        .filter(|settings| is_wanted(settings))
        .collect();
    settings.sort_by_key(|settings| settings.declaration);
    settings
}

/// The value of one setting, as what `#[derive(Settings)]` writes asks for it.
///
/// # Errors
/// It was not given and has no default.
pub fn value<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &'static str,
) -> Result<T, clap::Error> {
    let value = matches.try_get_one::<T>(name).ok().flatten().cloned();
    value.ok_or_else(|| {
        let message = format!("the setting {name} has no value\n");
        clap::Error::raw(ErrorKind::MissingRequiredArgument, message)
    })
}
