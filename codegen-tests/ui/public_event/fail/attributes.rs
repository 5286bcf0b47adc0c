//! Cases of `PublicEvent`: attributes.

mod misspelt_key {
    //! The keys are known.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests", nam = "CopyFree")]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod version_zero {
    //! The first version is 1.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests", version = 0)]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod version_as_a_text {
    //! A version is a number.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests", version = "2")]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod malformed_package {
    //! A package has segments.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "library")]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod malformed_name {
    //! A name has ASCII letters.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests", name = "copy available")]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod no_package {
    //! A package stands in the manifest or in the attribute.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(version = 2)]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod key_of_an_event {
    //! A public event has a key of its own.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[event(package = "com.example.tests")]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }
}

mod personal_field {
    //! A public event is not erased.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct ReaderRegistered {
        id: Uuid,
        #[personal(of = id, erased = "erased")]
        name: String,
    }
}

mod validated_field {
    //! A public event is not validated.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        #[validate(text(max = 9))]
        isbn: String,
    }
}

mod renamed_by_serde {
    //! A public event is known by its type.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[serde(rename = "CopyFree")]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }
}

fn main() {}
