//! Staff register a reader.

use es_framework::prelude::*;

/// Registers a reader, who may borrow copies from now on.
///
/// Example: `{"id": "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55", "name": "Ada"}`
#[derive(Command)]
#[command(subject = "/readers/{id}", condition = pristine, role = "staff")]
pub struct RegisterReaderCommand {
    pub id: Uuid,
    #[validate(text(max = 500))]
    pub name: String,
    /// The number of the reader's card. No two readers have the same one.
    #[validate(text(max = 40))]
    pub card: Option<String>,
}

/// A reader was registered.
#[derive(Debug, PartialEq, Event)]
#[event(from = RegisterReaderCommand)]
pub struct ReaderRegisteredEvent {
    pub id: Uuid,
    #[personal(of = id, erased = "erased reader")]
    pub name: String,
    #[personal(of = id)]
    #[unique("reader-card", trim, ignore_case, nfkc)]
    pub card: Option<String>,
}

#[handler]
fn register(command: RegisterReaderCommand) -> ReaderRegisteredEvent;
