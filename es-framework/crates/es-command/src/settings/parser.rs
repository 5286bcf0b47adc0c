//! Parses the text of a setting into its value.

use std::{any::TypeId, error::Error, path::PathBuf, str::FromStr};

use clap::builder::ValueParser;

/// A type that a setting may have.
///
/// ```
/// use std::{convert::Infallible, str::FromStr};
///
/// use es_framework::prelude::*;
///
/// #[derive(Clone)]
/// struct Greeting(String);
///
/// impl FromStr for Greeting {
///     type Err = Infallible;
///
///     fn from_str(text: &str) -> Result<Self, Infallible> {
///         Ok(Self(text.to_owned()))
///     }
/// }
///
/// #[derive(Settings)]
/// struct Letters {
///     /// What letters begin with.
///     #[setting(default = "Dear reader")]
///     greeting: Greeting,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a setting",
    label = "no text becomes a value of this type",
    note = "a setting is a number, a `bool`, a `String`, a `PathBuf`, an `Option` of these, or another type that implements `std::str::FromStr` and `Clone`"
)]
pub trait SettingValue:
    FromStr<Err: Into<Box<dyn Error + Send + Sync>>> + Clone + Send + Sync + 'static
{
}

impl<T> SettingValue for T where
    T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>> + Clone + Send + Sync + 'static
{
}

/// Returns the parser of a setting. The code that `#[derive(Settings)]` generates calls it.
///
/// ```
/// use clap::{Arg, Command};
/// use es_framework::settings::parser;
///
/// let open = Arg::new("open").long("open").value_parser(parser::<bool>());
/// let command = Command::new("library-app").arg(open);
/// assert!(command.try_get_matches_from(["library-app", "--open", "perhaps"]).is_err());
/// ```
#[must_use]
pub fn parser<T: SettingValue>() -> ValueParser {
    let wanted = TypeId::of::<T>();
    // clap has parsers of its own for these types. They accept more values than `FromStr`, or describe
    // them in `--help`.
    if wanted == TypeId::of::<bool>() {
        return ValueParser::bool();
    }
    if wanted == TypeId::of::<PathBuf>() {
        return ValueParser::path_buf();
    }
    ValueParser::new(str::parse::<T>)
}
