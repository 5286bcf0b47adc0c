//! How the text of a setting becomes its value.

use std::{any::TypeId, error::Error, path::PathBuf, str::FromStr};

use clap::builder::ValueParser;

/// A type that a setting may have.
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

/// The parser of a setting, as what `#[derive(Settings)]` writes asks for it.
#[must_use]
pub fn parser<T: SettingValue>() -> ValueParser {
    let wanted = TypeId::of::<T>();
    // These say more in `--help`, or take more, than their `FromStr`.
    if wanted == TypeId::of::<bool>() {
        return ValueParser::bool();
    }
    if wanted == TypeId::of::<PathBuf>() {
        return ValueParser::path_buf();
    }
    ValueParser::new(str::parse::<T>)
}
