//! Cases of `command`: custom rules.

mod condition_in_quotation_marks {
    //! A condition written as a text.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", condition = "pristine")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod misspelt_condition {
    //! A condition that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", condition = exist)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod unknown_condition {
    //! A condition that does not exist.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", condition = unique)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod with_in_quotation_marks {
    //! A function in quotation marks.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(with = "is_sound")]
        value: String,
    }
}

fn main() {}
