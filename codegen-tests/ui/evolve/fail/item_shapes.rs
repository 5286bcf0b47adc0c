//! Cases of `evolve`: item shapes.

mod a_generic_impl {
    //! A state is of one type.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    trait Purchased {
        fn purchased(event: &BookPurchasedEvent) -> Self;
    }

    #[evolve]
    impl Purchased for Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod async_function {
    //! A state follows from its events alone.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {}
}

mod on_a_module {
    //! The attribute stands above something else altogether.

    use es_framework::prelude::*;

    #[evolve]
    mod book {}
}

mod on_a_struct {
    //! The attribute stands above the state instead of its `impl`.

    use es_framework::prelude::*;

    #[evolve]
    #[derive(State)]
    struct Book {
        copies: u32,
    }
}

mod on_an_enum {
    //! The attribute stands above the state instead of its `impl`.

    use es_framework::prelude::*;

    #[evolve]
    #[derive(State)]
    enum Book {
        Available,
    }
}

mod unsafe_function {
    //! The framework calls no unsafe code.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

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
