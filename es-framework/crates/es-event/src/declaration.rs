//! The place of a declaration in the source, for the errors that prevent a start.

use std::fmt;

/// The place of a declaration.
///
/// ```
/// let here = es_event::declaration!();
/// assert_eq!(here.to_string(), format!("{}:{}", here.file, here.line));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declaration {
    /// The Cargo package that the declaration stands in.
    pub package: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// The module that the declaration stands in.
    pub module: &'static str,
    /// The path of the source file, as the compiler received it.
    pub file: &'static str,
    /// The line, from one.
    pub line: u32,
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The [`Declaration`] of the place where this macro stands.
///
/// ```
/// use es_event::{Declaration, declaration};
///
/// const HERE: Declaration = declaration!();
/// assert_eq!(HERE.package, "es-event"); // the package that is compiled
/// ```
#[macro_export]
macro_rules! declaration {
    () => {
        $crate::Declaration {
            package: ::core::env!("CARGO_PKG_NAME"),
            version: ::core::env!("CARGO_PKG_VERSION"),
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
        }
    };
}
