//! Cases of `command`: lists and numbers.

mod each_with_items {
    //! A rule for lists on the items of one.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(each(items(max = 9)))]
        value: Vec<Vec<String>>,
    }
}

mod each_without_rules {
    //! Items that keep no rule.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(each())]
        value: Vec<String>,
    }
}

mod items_below_zero {
    //! A number of items that no list has.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(items(max = -1))]
        value: Vec<String>,
    }
}

mod items_upside_down {
    //! A number of items that no list has.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(items(min = 2, max = 1))]
        value: Vec<String>,
    }
}

mod items_without_ends {
    //! A rule that holds for every list.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(items())]
        value: Vec<String>,
    }
}

mod range_of_texts {
    //! An end that is no number.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(range(min = "a"))]
        value: String,
    }
}

mod range_upside_down {
    //! A range of nothing.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(range(min = 9, max = 1))]
        value: i64,
    }
}

mod range_without_ends {
    //! A range of everything.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[validate(range())]
        value: i64,
    }
}

fn main() {}
