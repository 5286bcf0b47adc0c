//! Cases of `event`: serde.

mod serde_deny_unknown_fields {
    //! An event that cannot grow.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[serde(deny_unknown_fields)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod serde_flatten {
    //! A field that is not one member.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        #[serde(flatten)]
        more: std::collections::BTreeMap<String, String>,
    }
}

mod serde_skip_serializing_if {
    //! A member that is missing when it is read, and two values with one JSON.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        price: Option<Option<u32>>,
    }
}

mod serde_rename {
    //! A name in the wrong place.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[serde(rename = "Bought")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod serde_rename_all {
    //! Names on the wire are camelCase.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[serde(rename_all = "snake_case")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

fn main() {}
