//! Cases of `event`: personal data.

mod of_nobody {
    //! Nothing says whose the value is.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(erased = "erased reader")]
        name: String,
    }
}

mod of_an_unknown_field {
    //! The person is named by a field that does not exist.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        reader: Uuid,
        #[personal(of = raeder, erased = "erased reader")]
        name: String,
    }
}

mod without_a_replacement {
    //! Nothing says what is read after the erasure.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(of = id)]
        name: String,
    }
}

mod an_id {
    //! An id is not personal.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        id: Uuid,
        #[personal(of = id, erased = Uuid::nil())]
        card: Uuid,
    }
}

mod in_the_subject {
    //! The subject contains a personal value.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "/readers/{name}")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(of = id, erased = "erased reader")]
        name: String,
    }
}

mod written_by_a_function {
    //! A function writes the value, so that it cannot be followed.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(of = id, erased = "erased reader")]
        #[serde(serialize_with = "shout")]
        name: String,
    }
}

mod above_the_struct {
    //! The attribute stands above the struct.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[personal(of = id)]
    struct ReaderRegisteredEvent {
        id: Uuid,
    }
}

mod misspelt {
    //! A key that does not exist.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(of = id, eraesd = "erased reader")]
        name: String,
    }
}

mod of_a_personal_id {
    //! The id of the person is personal itself.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct ReaderRegisteredEvent {
        id: Uuid,
        #[personal(of = id, erased = "erased card")]
        card: String,
        #[personal(of = card, erased = "erased reader")]
        name: String,
    }
}

mod in_a_value_without_names {
    //! A field without a name, beside which nothing names the person.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Name(#[personal(of = id, erased = "erased reader")] String);

    #[derive(Value)]
    enum Contact {
        Phone(#[personal(of = id)] Option<String>),
    }
}

fn main() {}
