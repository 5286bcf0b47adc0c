//! Cases of `event`: versions.

mod version_one {
    //! A number for the first version.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", version = 1)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod version_that_is_no_number {
    //! A version that is a text.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", version = "v2")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod version_that_is_too_large {
    //! A version that nobody reaches.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", version = 5000000000)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod version_without_value {
    //! A version that is not said.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", version)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

fn main() {}
