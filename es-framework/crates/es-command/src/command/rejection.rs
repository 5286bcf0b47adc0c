//! Rejections: the errors of the domain.

use es_event::Declaration;

/// The reason why a handler rejects a command. Its `Display` is the sentence that the caller reads.
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
    /// Returns the descriptors of all rejections of this type.
    fn all() -> &'static [RejectionDescriptor]
    where
        Self: Sized;

    /// Returns the descriptor of this rejection.
    fn descriptor(&self) -> &'static RejectionDescriptor;

    /// Returns the rejection's kind, which decides about the HTTP status.
    fn kind(&self) -> RejectionKind {
        self.descriptor().kind
    }

    /// Returns a stable name for programs in kebab-case, such as `copy-is-lent`.
    fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// Returns a stable short title for people, such as `The copy is lent`.
    fn title(&self) -> &'static str {
        self.descriptor().title
    }
}

/// The descriptor of a rejection: its constant parts, without its values.
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
    /// The rejection's kind.
    pub kind: RejectionKind,
    /// A stable name for programs in kebab-case.
    pub name: &'static str,
    /// A stable short title for people.
    pub title: &'static str,
    /// The place of the rejection's declaration in the source.
    pub declaration: Declaration,
}

/// The kinds of rejections. Each has its own HTTP status code.
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
    /// The current state of the subject does not allow the command. A later one may.
    Conflict,
    /// The subject existed and is gone for good.
    Gone,
    /// The command names something that does not exist.
    NotFound,
    /// The caller is not allowed to do this.
    Forbidden,
    /// The values contradict each other.
    Invalid,
}
