//! Cases of `event`: unique values.

mod without_a_name {
    //! Nothing names the rule.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique]
        card: String,
    }
}

mod words_before_the_name {
    //! The name of the rule is not the first.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique(ignore_case, "reader-card")]
        card: String,
    }
}

mod a_malformed_name {
    //! The name would be no segment of a subject.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("Reader Card")]
        card: String,
    }
}

mod an_unknown_word {
    //! A word is misspelt.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("reader-card", ignore_csae)]
        card: String,
    }
}

mod two_forms {
    //! A text has one form.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("reader-card", nfc, nfkc)]
        card: String,
    }
}

mod two_comparisons {
    //! Two fields compare the values of one rule in two ways.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("reader-card", trim)]
        card: String,
        #[unique("reader-card")]
        spare: String,
    }
}

mod twice {
    //! A field has two rules.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("reader-card")]
        #[unique("card")]
        card: String,
    }
}

mod kept_without_a_person {
    //! No erasure concerns the value.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct CardIssuedEvent {
        #[unique("reader-card", keep_after_erasure)]
        card: String,
    }
}

mod released_and_replaced {
    //! The event gives a value up and has another one.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", releases("reader-card"))]
    struct CardIssuedEvent {
        #[unique("reader-card")]
        card: String,
    }
}

mod released_twice {
    //! A name occurs twice.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", releases("reader-card", "reader-card"))]
    struct CardIssuedEvent {
        card: String,
    }
}

mod releasing_nothing {
    //! No name says what is released.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", releases)]
    struct CardIssuedEvent {
        card: String,
    }
}

mod above_the_struct {
    //! The attribute stands above the struct.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[unique("reader-card")]
    struct CardIssuedEvent {
        card: String,
    }
}

mod on_a_command {
    //! A command claims nothing.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/readers/{id}")]
    struct IssueCardCommand {
        id: Uuid,
        #[unique("reader-card")]
        card: String,
    }
}

mod on_a_value {
    //! A value claims nothing.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Card {
        #[unique("reader-card")]
        number: String,
    }
}

fn main() {}
