//! Cases of `evolve`: item shapes.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod a_generic_impl {
    //! A state is of one type.

    use super::*;

    struct Shelf<T>(T);

    #[evolve]
    impl<T> Shelf<T> {
        fn purchased(_: &BookPurchasedEvent) -> Option<Self> {
            None
        }
    }
}

mod a_trait_impl {
    //! The functions are no trait's.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    trait Purchase {
        fn purchased(event: &BookPurchasedEvent) -> Self;
    }

    #[evolve]
    impl Purchase for Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod async_function {
    //! A state follows from its events alone.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        async fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod extern_function {
    //! The framework calls functions of Rust.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        extern "C" fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod generic_function {
    //! A function is for one kind of event.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        fn purchased<E: Event>(_: &E) -> Self {
            Self { copies: 1 }
        }
    }
}

mod no_event {
    //! A function that follows from nothing.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        fn purchased(&mut self) {
            self.copies = 1;
        }
    }
}

mod no_function {
    //! No event leads to the state.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {}
}

mod on_a_module {
    //! The attribute stands above something else altogether.

    use super::*;

    #[evolve]
    mod book {}
}

mod on_a_struct {
    //! The attribute stands above the state instead of its `impl`.

    use super::*;

    #[evolve]
    #[derive(State)]
    struct Book {
        copies: u32,
    }
}

mod on_an_enum {
    //! The attribute stands above the state instead of its `impl`.

    use super::*;

    #[evolve]
    #[derive(State)]
    enum Book {
        Available,
    }
}

mod unsafe_function {
    //! The framework calls no unsafe code.

    use super::*;

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        unsafe fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

fn main() {}
