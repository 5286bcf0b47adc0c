//! Cases of `evolve`: parameters.

mod arguments {
    //! The functions alone say which events a state follows from.

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

    #[evolve(strict)]
    impl Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod beginning_without_a_state {
    //! No state comes of it.

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
        fn purchased(_: &BookPurchasedEvent) {}
    }
}

mod change_that_returns {
    //! Both in place and returned.

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
        fn purchased(&mut self, _: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod event_by_mutable_reference {
    //! An event does not change.

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
        fn purchased(_: &mut BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod one_event_twice {
    //! Two functions say what follows from one event.

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
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }

        fn bought(&mut self, _: &BookPurchasedEvent) {
            self.copies = 2;
        }
    }
}

mod state_by_reference {
    //! An event that changes nothing.

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
        fn purchased(&self, _: &BookPurchasedEvent) {}
    }
}

mod tuple_parameter {
    //! A parameter that can be no event.

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
        fn purchased(_: (Uuid, u32)) -> Self {
            Self { copies: 1 }
        }
    }
}

mod two_events {
    //! A function for two events at once.

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
        fn purchased(_: &BookPurchasedEvent, _: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }
}

mod clock_in_a_state {
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
        fn purchased(_: &BookPurchasedEvent, _clock: &Clock) -> Self {
            Self { copies: 1 }
        }

        fn ticked(&mut self, _: &Clock) {
            self.copies += 1;
        }
    }
}

fn main() {}
