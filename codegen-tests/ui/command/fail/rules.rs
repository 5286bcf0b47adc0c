//! Cases of `command`: rules.

mod duplicate_rule {
    //! A rule that stands there twice.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text(max = 32), text(max = 64))]
        value: String,
    }
}

mod misspelt_rule {
    //! A rule that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(txt(max = 32))]
        value: String,
    }
}

mod no_rule {
    //! An attribute without a rule.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate()]
        value: String,
    }
}

mod rule_without_arguments {
    //! A rule that does not say what it asks.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(text)]
        value: String,
    }
}

mod unknown_rule {
    //! A rule that does not exist.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(uuid)]
        value: String,
    }
}

mod validate_on_the_struct {
    //! A rule that stands above the struct.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[validate(text(max = 32))]
    struct PurchaseBookCommand {
        id: String,
    }
}

fn main() {}
