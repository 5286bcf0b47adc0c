//! Cases of `command`: texts.

mod characters_without_text {
    //! Characters that are not written out.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(characters(digits))]
        value: String,
    }
}

mod email_with_arguments {
    //! Arguments of a rule that has none.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(email(strict))]
        value: String,
    }
}

mod pattern_that_is_none {
    //! A pattern that is no regular expression.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(pattern("^[0-9"))]
        value: String,
    }
}

mod pattern_with_digit_class {
    //! A pattern that other readers of the schema read otherwise.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(pattern(r"^\d+$"))]
        value: String,
    }
}

mod pattern_with_flags {
    //! A pattern with flags, which a schema has no room for.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(pattern("(?i)^a$"))]
        value: String,
    }
}

mod pattern_with_look_ahead {
    //! A pattern that cannot be matched in linear time.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(pattern("^(?=a)"))]
        value: String,
    }
}

mod pattern_without_text {
    //! A pattern that is no text.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(pattern(9))]
        value: String,
    }
}

mod text_of_length_zero {
    //! A text that cannot be.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text(max = 0))]
        value: String,
    }
}

mod text_upside_down {
    //! A text that is longer than it may be.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text(min = 9, max = 8))]
        value: String,
    }
}

mod text_with_length_of_another_type {
    //! A length that is no number of characters.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text(max = 1.5))]
        value: String,
    }
}

mod text_without_max {
    //! A text of any length.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text())]
        value: String,
    }
}

fn main() {}
