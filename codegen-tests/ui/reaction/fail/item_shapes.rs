//! Cases of `reaction`: item shapes.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

#[derive(Command)]
#[command(subject = "/books/{id}", internal)]
struct RemindReaderCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRemindedEvent {}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

mod a_constant {
    //! A reaction holds functions.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        const DAYS: i64 = 1;

        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod a_struct {
    //! A reaction is a block.

    use super::*;

    // The functions are missing.

    #[reaction]
    struct LoanReminder;
}

mod a_trait {
    //! A reaction is no trait.

    use super::*;

    trait Remind {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand;
    }

    struct LoanReminder;

    #[reaction]
    impl Remind for LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod extern_function {
    //! The framework calls functions of Rust.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        extern "C" fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod generic_block {
    //! A reaction has no generic parameters.

    use super::*;

    struct LoanReminder<T>(T);

    #[reaction]
    impl<T: Send + Sync + 'static> LoanReminder<T> {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod generic_function {
    //! A function follows from one kind of event.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind<E: Event>(event: &E) -> Vec<RemindReaderCommand> {
            vec![]
        }
    }
}

mod no_event {
    //! Something has to happen first.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind() -> Vec<RemindReaderCommand> {
            vec![]
        }
    }
}

mod no_function {
    //! A reaction without a function reacts to nothing.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {}
}

mod unsafe_function {
    //! A function is called by safe code.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        unsafe fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod with_self {
    //! A reaction remembers nothing.

    use super::*;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(&self, event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

fn main() {}
