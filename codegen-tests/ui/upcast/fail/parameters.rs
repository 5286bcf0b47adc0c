//! Cases of `upcast`: parameters.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", name = "BookPurchasedEvent")]
struct BookPurchasedV1 {
    pages: String,
}

#[derive(Event)]
#[event(package = "com.example.library", version = 2)]
struct BookPurchasedEvent {
    pages: u32,
}

mod a_tuple_parameter {
    //! An upcaster that takes several events at once.

    use super::*;

    #[upcast]
    fn pages_became_a_number(_: (BookPurchasedV1, BookPurchasedV1)) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod impl_trait_return_type {
    //! An upcaster that does not name the event that it makes.

    use super::*;

    #[upcast]
    fn pages_became_a_number(_: BookPurchasedV1) -> impl Event {
        BookPurchasedEvent { pages: 0 }
    }
}

mod never_return_type {
    //! An upcaster that never returns.

    use super::*;

    #[upcast]
    fn pages_became_a_number(_: BookPurchasedV1) -> ! {
        panic!()
    }
}

mod no_parameter {
    //! An upcaster that takes nothing.

    use super::*;

    #[upcast]
    fn pages_became_a_number() -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod parameter_with_attribute {
    //! An attribute on the parameter.

    use super::*;

    #[upcast]
    fn pages_became_a_number(#[subject("/books/{id}")] _: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod two_parameters {
    //! An upcaster that takes more than the old event.

    use super::*;

    #[upcast]
    fn pages_became_a_number(_: BookPurchasedV1, today: Timestamp) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod with_arguments {
    //! Arguments of the attribute.

    use super::*;

    #[upcast(from = "BookPurchasedEvent")]
    fn pages_became_a_number(_: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

fn main() {}
