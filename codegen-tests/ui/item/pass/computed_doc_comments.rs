//! A doc comment may be an expression, as a `macro_rules!` writes it.

#![deny(warnings)]

use es_framework::{
    command::RejectionDescriptor,
    prelude::*,
    query::{ParameterDescriptions, QueryDescriptor},
};

macro_rules! documented {
    ($noun:literal) => {
        #[doc = concat!("Adds a ", $noun, "\nto the inventory.\n\nOne of many.")]
        #[derive(Command)]
        #[command(subject = "/documented/{id}")]
        struct AddDocumentedCommand {
            #[doc = concat!("The ", $noun, ".")]
            id: Uuid,
        }

        #[doc = $noun]
        #[derive(Event)]
        #[event(package = "com.example.tests", from = AddDocumentedCommand)]
        struct DocumentedAddedEvent {
            id: Uuid,
        }

        #[derive(ReadModel)]
        #[read_model(table = "documented", subject = "/documented/{id}")]
        struct DocumentedRow {
            #[key]
            id: Uuid,
        }

        #[projection]
        impl DocumentedRow {
            fn added(event: &DocumentedAddedEvent) -> Self {
                Self { id: event.id }
            }
        }

        /// Finds one
        #[doc = $noun]
        #[doc = concat!("or ", "none.")]
        ///
        /// Not
        #[doc = concat!("more ", $noun, "s.")]
        #[derive(Query)]
        #[query(path = "/documented/{id}", row = DocumentedRow)]
        struct FindDocumented {
            #[doc = concat!("The ", $noun, ".")]
            id: Uuid,
        }

        #[derive(Debug, Rejection)]
        enum DocumentedRejection {
            #[doc = concat!("There is no ", $noun, ".")]
            #[rejection(not_found)]
            Missing,
        }

        #[derive(Settings)]
        struct DocumentedSettings {
            #[doc = concat!("How many ", $noun, "s.")]
            #[setting(default = 3)]
            documented_number: u8,
        }

        #[handler]
        fn add_documented(
            command: AddDocumentedCommand,
            settings: &DocumentedSettings,
        ) -> Result<DocumentedAddedEvent, DocumentedRejection> {
            if settings.documented_number == 0 {
                return Err(DocumentedRejection::Missing);
            }
            Ok(command.into())
        }
    };
}

documented!("book");

#[test]
fn a_computed_comment_becomes_the_summary() {
    assert_eq!(AddDocumentedCommand::SUMMARY, "Adds a book to the inventory.");
    assert_eq!(FindDocumented::SUMMARY, "Finds one book or none.");
    assert_eq!(FindDocumented::DESCRIPTION, "Not\nmore books.");
    let titles: Vec<_> = DocumentedRejection::all().iter().map(|one: &RejectionDescriptor| one.title).collect();
    assert_eq!(titles, ["There is no book"]);
    assert_eq!(DocumentedRejection::Missing.to_string(), "There is no book");
}

#[test]
fn a_computed_comment_describes_a_parameter() {
    let mut generator = schemars::SchemaGenerator::default();
    let mut parameters = ParameterDescriptions::new(&mut generator);
    FindDocumented::describe(&mut parameters);
    let described: Vec<_> = parameters.into_vec().iter().map(|one| one.description).collect();
    assert_eq!(described, ["The book."]);
    assert_eq!(QueryDescriptor::of::<FindDocumented>().summary, FindDocumented::SUMMARY);
}
