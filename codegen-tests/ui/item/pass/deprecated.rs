//! What is deprecated, hidden or conditional may be declared without a warning.

#![deny(
    warnings,
    missing_docs,
    unused_qualifications,
    single_use_lifetimes,
    rust_2018_idioms
)]
#![deny(trivial_casts, trivial_numeric_casts, unused_results)]
#![allow(dead_code)]

fn main() {}

pub mod library {
    //! Lending.

    use es_framework::prelude::*;

    /// An old version.
    #[deprecated = "read only"]
    #[derive(Event)]
    #[event(package = "com.example.library")]
    pub struct BookLentEvent {
        /// The copy.
        pub id: Uuid,
        /// Who has it.
        #[deprecated]
        pub reader: String,
    }

    /// Lends.
    #[deprecated]
    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    pub struct LendBookCommand {
        /// The copy.
        #[deprecated]
        pub id: Uuid,
        /// Who has it.
        #[deprecated]
        #[validate(text(max = 5))]
        pub reader: String,
        /// Not there.
        #[cfg(any())]
        pub nothing: Missing,
    }

    /// A reply.
    #[deprecated]
    #[derive(Value)]
    pub enum Status {
        /// Here.
        #[deprecated]
        Here,
        /// Away.
        #[cfg(any())]
        Away(Missing),
    }

    /// A refusal.
    #[deprecated]
    #[derive(Debug, Rejection)]
    pub enum LendingError {
        /// The copy is lent
        #[deprecated]
        #[rejection(conflict, detail = "{reader} has it")]
        Lent {
            /// Who has it.
            #[deprecated]
            reader: String,
        },
    }

    /// A state.
    #[deprecated]
    #[derive(State)]
    pub struct Book {
        #[deprecated]
        lent: bool,
    }

    #[evolve]
    #[expect(deprecated)]
    impl Book {
        fn lent(_: BookLentEvent) -> Self {
            Self { lent: true }
        }

        #[cfg(any())]
        fn missing(_: &MissingEvent) -> Self {
            Self { lent: true }
        }
    }

    /// Rules.
    #[deprecated]
    #[derive(Settings)]
    pub struct Lending {
        /// How long.
        #[deprecated]
        #[setting(default = 1)]
        days: u32,
    }

    /// A service.
    #[deprecated]
    #[derive(Service)]
    pub struct Rates;

    #[handler]
    #[expect(deprecated)]
    fn lend(
        command: LendBookCommand,
        book: Option<&Book>,
        lending: &Lending,
    ) -> Result<BookLentEvent, LendingError> {
        let LendBookCommand { id, reader } = command;
        match book.is_some_and(|book| book.lent) || lending.days == 0 {
            true => Err(LendingError::Lent { reader }),
            false => Ok(BookLentEvent { id, reader }),
        }
    }
}
