//! What must be true of a command's subject before the handler is asked.

/// What a command asks of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    None,
    /// That nothing ever happened to it.
    Pristine,
    /// That something happened to it.
    Exists,
}
