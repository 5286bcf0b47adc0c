//! Cases of `event`: packages.

mod no_package {
    //! A crate without a name for its events.

    use es_framework::prelude::*;

    #[derive(Event)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod package_of_one_segment {
    //! A package that is too short.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod package_that_is_no_text {
    //! A value of the wrong type.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = com.example.library)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod package_with_invalid_character {
    //! A character that no type has.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.exämple.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

fn main() {}
