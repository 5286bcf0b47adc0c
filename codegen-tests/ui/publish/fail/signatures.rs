//! Cases of `publish`: signatures.

mod asynchronous {
    //! A publication does no I/O.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    async fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod unsafe_function {
    //! A publication is called by safe code.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    unsafe fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod foreign_function {
    //! A publication is called from Rust.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    extern "C" fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod generic_function {
    //! A publication follows from one kind of event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available<E: Event>(event: &E) -> CopyAvailable {
        CopyAvailable { id: Uuid::nil() }
    }
}

mod of_a_struct {
    //! A publication is a function.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    struct CopyReturned;
}

mod a_method {
    //! A publication is a function of its own.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    struct Publications;

    impl Publications {
        #[publish]
        fn copy_available(&self, event: &BookReturnedEvent) -> CopyAvailable {
            CopyAvailable { id: event.id }
        }
    }
}

mod nothing_is_published {
    //! A function says what it publishes.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(_: &BookReturnedEvent) {}
}

mod a_result {
    //! A publication cannot fail.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent) -> Result<CopyAvailable, String> {
        Ok(CopyAvailable { id: event.id })
    }
}

mod impl_trait_return_type {
    //! A publication names what it publishes.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent) -> impl Sized {
        CopyAvailable { id: event.id }
    }
}

fn main() {}
