//! When the domain says no.

use std::collections::BTreeMap;

use super::{CommandDescriptor, RegistryError};
use crate::Declaration;

/// A handler's refusal. Its `Display` is the sentence that the caller reads.
/// `#[derive(Rejection)]` implements it.
///
/// ```
/// use es_framework::{command::RejectionKind, prelude::*};
///
/// /// The copy was removed.
/// #[derive(Debug, Rejection)]
/// #[rejection(gone)]
/// struct CopyRemoved;
///
/// assert_eq!(CopyRemoved.kind(), RejectionKind::Gone);
/// assert_eq!((CopyRemoved.name(), CopyRemoved.title()), ("copy-removed", "The copy was removed"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rejection",
    label = "a handler's error must be a `Rejection`",
    note = "put `#[derive(Debug, Rejection)]` on `{Self}`, and `#[rejection(conflict)]` or another sort above each variant"
)]
pub trait Rejection: std::error::Error + Send + Sync + 'static {
    /// Every refusal that this type can stand for.
    fn all() -> &'static [RejectionDescriptor]
    where
        Self: Sized;

    /// Which of them this one is.
    fn descriptor(&self) -> &'static RejectionDescriptor;

    /// What sort of refusal it is.
    fn kind(&self) -> RejectionKind {
        self.descriptor().kind
    }

    /// A stable name for programs in kebab-case, such as `copy-is-lent`.
    fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// A stable short title for people, such as `The copy is lent`.
    fn title(&self) -> &'static str {
        self.descriptor().title
    }
}

/// A refusal without its values: what is the same each time.
///
/// ```
/// use es_framework::{command::RejectionKind, prelude::*};
///
/// /// The copy was removed
/// #[derive(Debug, Rejection)]
/// #[rejection(gone)]
/// struct CopyRemoved;
///
/// let [removed] = CopyRemoved::all() else { panic!("it is one") };
/// assert_eq!((removed.kind, removed.name), (RejectionKind::Gone, "copy-removed"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RejectionDescriptor {
    /// What sort of refusal it is.
    pub kind: RejectionKind,
    /// A stable name for programs in kebab-case.
    pub name: &'static str,
    /// A stable short title for people.
    pub title: &'static str,
    /// Where it is declared.
    pub declaration: Declaration,
}

/// The sorts of refusal that callers tell apart.
///
/// ```
/// use es_framework::{command::RejectionKind, prelude::*};
///
/// #[derive(Debug, Rejection)]
/// enum LendingError {
///     /// The reader is unknown
///     #[rejection(not_found)]
///     UnknownReader,
///     /// The reader may not borrow
///     #[rejection(forbidden)]
///     Barred,
/// }
///
/// assert_eq!(LendingError::UnknownReader.kind(), RejectionKind::NotFound);
/// assert_eq!(LendingError::Barred.kind(), RejectionKind::Forbidden);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The state of the subject stands against it; it may pass later.
    Conflict,
    /// The subject was there and is gone for good.
    Gone,
    /// Something that the command names is unknown.
    NotFound,
    /// The caller may not do this.
    Forbidden,
    /// The values make no sense together.
    Invalid,
}

/// A name means one thing to callers, whichever command they sent.
pub(super) fn check_names(commands: &[CommandDescriptor]) -> Result<(), RegistryError> {
    let mut known: BTreeMap<&str, &RejectionDescriptor> = BTreeMap::new();
    for rejection in commands.iter().flat_map(|command| (command.rejections)()) {
        let first = *known.entry(rejection.name).or_insert(rejection);
        if (first.kind, first.title) != (rejection.kind, rejection.title) {
            return Err(RegistryError::AmbiguousRejection {
                name: rejection.name,
                first: first.declaration,
                second: rejection.declaration,
            });
        }
    }
    Ok(())
}
