//! Cases of `event`: subjects.

mod subject_above {
    //! Nothing lies above.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "../readers/{reader}")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_below_nothing {
    //! An event is about something below the command's subject.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "./")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_of_everything {
    //! An event is about something.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "/")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_that_is_no_text {
    //! A subject without quotation marks.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = readers)]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_with_half_a_dot {
    //! Below the command's subject lies `./…`.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = ".notes/{reader}")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_with_misspelt_field {
    //! A field that the event does not have.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "/readers/{raeder}")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

mod subject_with_optional_field {
    //! A subject that an event may lack.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "/readers/{reader}")]
    struct LoanOpenedEvent {
        reader: Option<Uuid>,
    }
}

mod subject_without_slash {
    //! A malformed subject.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", subject = "readers/{reader}")]
    struct LoanOpenedEvent {
        reader: Uuid,
    }
}

fn main() {}
