//! Cases of `publish`: arguments.

mod misspelt_key {
    //! The only key is `personal`.

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

    #[publish(persnal(name))]
    fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod no_field {
    //! `personal` names fields.

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

    #[publish(personal)]
    fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod fields_as_a_text {
    //! `personal` names fields without quotation marks.

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

    #[publish(personal("name"))]
    fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod a_field_twice {
    //! Each field is named once.

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

    #[publish(personal(id, id))]
    fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

fn main() {}
