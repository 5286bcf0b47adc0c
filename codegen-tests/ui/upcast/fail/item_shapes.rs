//! Cases of `upcast`: item shapes.

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

mod a_generic_function {
    //! An upcaster with a type parameter.

    use super::*;

    #[upcast]
    fn pages_became_a_number<T>(_: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod a_method {
    //! A method.

    use super::*;

    struct Upcasters;

    impl Upcasters {
        #[upcast]
        fn pages_became_a_number(self, _: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
    }
}

mod a_reference {
    //! An upcaster that borrows the old event.

    use super::*;

    #[upcast]
    fn pages_became_a_number(_: &BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod an_async_function {
    //! An upcaster that is asynchronous.

    use super::*;

    #[upcast]
    async fn pages_became_a_number(_: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod an_extern_function {
    //! An upcaster for another language.

    use super::*;

    #[upcast]
    extern "C" fn pages_became_a_number(_: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod an_unsafe_function {
    //! An upcaster that is unsafe.

    use super::*;

    #[upcast]
    unsafe fn pages_became_a_number(_: BookPurchasedV1) -> BookPurchasedEvent {
        BookPurchasedEvent { pages: 0 }
    }
}

mod on_a_struct {
    //! The attribute on a struct.

    use super::*;

    #[upcast]
    struct PagesBecameANumber;
}

fn main() {}
