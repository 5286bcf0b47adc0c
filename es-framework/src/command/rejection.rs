//! When the domain says no.

/// A handler's refusal. Its `Display` is the sentence that the caller reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rejection",
    label = "a handler's error must be a `Rejection`",
    note = "implement `es_framework::command::Rejection` for `{Self}`"
)]
pub trait Rejection: std::error::Error + Send + Sync + 'static {
    /// What sort of refusal it is.
    fn kind(&self) -> RejectionKind;

    /// A stable name for programs in kebab-case, such as `copy-is-lent`.
    fn name(&self) -> &'static str;

    /// A stable short title for people, such as `The copy is lent`.
    fn title(&self) -> &'static str;
}

/// The sorts of refusal that callers tell apart.
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
