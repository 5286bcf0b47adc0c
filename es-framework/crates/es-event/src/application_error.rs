//! The error of an application that cannot start or continue.

use std::{error, fmt};

use super::foreign_text::escape_for_terminal;

/// An error for the person who starts the application. `Debug` shows the sentence, since that is
/// what a `main` that returns it prints.
///
/// ```
/// use es_event::Error;
///
/// let cause = "x".parse::<u16>().unwrap_err();
/// let error = Error::because("the setting --port is wrong", cause);
/// assert_eq!(error.to_string(), "the setting --port is wrong: invalid digit found in string");
/// ```
pub struct Error {
    message: String,
    cause: Option<Box<dyn error::Error + Send + Sync>>,
}

/// The result that `main` returns.
///
/// ```
/// use es_event::{Error, Result};
///
/// fn port(text: &str) -> Result<u16> {
///     text.parse().map_err(|error| Error::because(format!("{text} is no port"), error))
/// }
///
/// assert!(port("8080").is_ok() && port("http").is_err());
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The type of a part that needs a Cargo feature without which the program was compiled. There is no value of it.
#[derive(Debug, Clone)]
pub enum NotLinked {}

impl Error {
    /// An error with a sentence of its own.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            cause: None,
        }
    }

    /// The error for a setting that needs a Cargo feature without which the program was compiled.
    ///
    /// ```
    /// use es_event::Error;
    ///
    /// let error = Error::missing_feature("AUTH_ISSUER", "oidc");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "AUTH_ISSUER needs the feature `oidc` of es-framework, without which this program was compiled"
    /// );
    /// ```
    #[must_use]
    pub fn missing_feature(setting: &str, feature: &str) -> Self {
        Self::new(format!(
            "{setting} needs the feature `{feature}` of es-framework, without which this program was compiled"
        ))
    }

    /// An error because of another one.
    #[must_use]
    pub fn because(
        message: impl Into<String>,
        cause: impl error::Error + Send + Sync + 'static,
    ) -> Self {
        let message = message.into();
        Self {
            message,
            cause: Some(Box::new(cause)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_for_terminal(&self.to_string()))
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.cause.as_deref().and_then(error::Error::source)
    }
}
