//! The check that no two settings have the same flag or environment variable.

use std::{collections::BTreeMap, fmt};

use clap::{Arg, Command};

use super::SettingsDescriptor;
use es_event::Declaration;

/// The error for two settings with the same flag or variable. It names both declarations.
///
/// ```
/// /// Formats the error of a start at which two settings want one flag.
/// fn explain(clash: &es_framework::settings::FlagClash) -> String {
///     format!("library-service does not start: {clash}")
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two settings want the {wanted}: {first} and {second}: {advice}", advice = wanted.advice())]
pub struct FlagClash {
    wanted: SettingName,
    first: FlagOwner,
    second: FlagOwner,
}

/// A name that only one setting can have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SettingName {
    Flag(String),
    Variable(String),
}

/// The owner of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FlagOwner {
    Framework,
    Application {
        field: String,
        settings: &'static str,
        // Apart, so that the error stays small.
        declaration: Box<Declaration>,
    },
}

/// The variables that the framework reads without a flag.
const VARIABLES: [&str; 1] = ["RUST_LOG"];

/// Checks that every flag and every variable belongs to one setting.
///
/// # Errors
/// The first [`FlagClash`].
#[doc(hidden)]
pub fn check_clashes(
    framework: &Command,
    declared: &[&SettingsDescriptor],
) -> Result<(), FlagClash> {
    let mut owners = BTreeMap::from([(SettingName::Flag("help".to_owned()), FlagOwner::Framework)]);
    let variables = VARIABLES.map(|name| SettingName::Variable(name.to_owned()));
    let flags = framework.get_arguments().flat_map(wanted);
    owners.extend(
        flags
            .chain(variables)
            .map(|one| (one, FlagOwner::Framework)),
    );
    for settings in declared {
        for argument in (settings.arguments)() {
            let owner = FlagOwner::Application {
                field: argument.get_id().to_string(),
                settings: settings.service.name,
                declaration: Box::new(settings.declaration),
            };
            for wanted in wanted(&argument) {
                if let Some(first) = owners.insert(wanted.clone(), owner.clone()) {
                    return Err(FlagClash {
                        wanted,
                        first,
                        second: owner,
                    });
                }
            }
        }
    }
    Ok(())
}

/// The flag and the variable of an argument.
fn wanted(argument: &Arg) -> impl Iterator<Item = SettingName> + use<> {
    let flag = argument
        .get_long()
        .map(str::to_owned)
        .map(SettingName::Flag);
    let variable = argument.get_env().map(|name| name.to_string_lossy());
    let variable = variable.map(|name| SettingName::Variable(name.into_owned()));
    flag.into_iter().chain(variable)
}

impl SettingName {
    fn advice(&self) -> &'static str {
        match self {
            Self::Flag(_) => "rename a field",
            Self::Variable(_) => "give one of them another with #[setting(env = \"…\")]",
        }
    }
}

impl fmt::Display for SettingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag --{name}"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
        }
    }
}

impl fmt::Display for FlagOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framework => f.write_str("the framework itself"),
            Self::Application {
                field,
                settings,
                declaration,
            } => write!(f, "{field} of {settings} at {declaration}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::settings::DeclaredSettings as _;

    #[derive(Settings)]
    struct Lending {
        /// The days for which a book is lent.
        #[setting(default = 28)]
        #[allow(dead_code)]
        loan_days: u32,
    }

    #[derive(Settings)]
    struct Films {
        /// The days for which a film is lent.
        #[allow(dead_code)]
        loan_days: Option<u32>,
    }

    #[derive(Settings)]
    struct Games {
        /// The days for which a game is lent.
        #[setting(env = "LOAN_DAYS")]
        #[allow(dead_code)]
        game_days: Option<u32>,
    }

    #[derive(Settings)]
    struct Shop {
        /// Port of the shop.
        #[allow(dead_code)]
        http_port: Option<u16>,
    }

    #[derive(Settings)]
    struct Log {
        /// The events to log.
        #[setting(env = "RUST_LOG")]
        #[allow(dead_code)]
        level: Option<String>,
    }

    #[derive(Settings)]
    struct Manual {
        /// The topic to explain.
        #[allow(dead_code)]
        help: Option<String>,
    }

    /// A command with settings of the framework.
    fn framework_command() -> clap::Command {
        let port = Arg::new("http_port").long("http-port").env("HTTP_PORT");
        let filter = Arg::new("log_filter").long("log-filter").env("RUST_LOG");
        clap::Command::new("library-app").args([port, filter])
    }

    fn refused(declared: &[&SettingsDescriptor]) -> String {
        check_clashes(&framework_command(), declared)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn two_settings_of_one_flag_are_both_named() {
        let lending = SettingsDescriptor::of::<Lending>("Lending");
        let films = SettingsDescriptor::of::<Films>("Films");
        assert_eq!(check_clashes(&framework_command(), &[&lending]), Ok(()));
        assert_eq!(
            refused(&[&lending, &films]),
            format!(
                "two settings want the flag --loan-days: loan_days of Lending at {} and loan_days of Films at {}: rename a field",
                Lending::DECLARATION,
                Films::DECLARATION
            )
        );
    }

    #[test]
    fn two_settings_of_one_variable_are_both_named() {
        let lending = SettingsDescriptor::of::<Lending>("Lending");
        let games = SettingsDescriptor::of::<Games>("Games");
        assert_eq!(
            refused(&[&lending, &games]),
            format!(
                "two settings want the environment variable LOAN_DAYS: loan_days of Lending at {} and game_days of Games at {}: give one of them another with #[setting(env = \"…\")]",
                Lending::DECLARATION,
                Games::DECLARATION
            )
        );
    }

    #[test]
    fn what_the_framework_has_is_its_own() {
        for (declared, said) in [
            (SettingsDescriptor::of::<Shop>("Shop"), "flag --http-port"),
            (SettingsDescriptor::of::<Manual>("Manual"), "flag --help"),
            (
                SettingsDescriptor::of::<Log>("Log"),
                "environment variable RUST_LOG",
            ),
        ] {
            let sentence = refused(&[&declared]);
            let start = format!("two settings want the {said}: the framework itself and ");
            assert!(sentence.starts_with(&start), "{sentence}");
            assert!(sentence.contains("src/settings/clash.rs:"), "{sentence}");
        }
    }
}
