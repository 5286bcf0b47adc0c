//! Wrong uses of `backdate_role`, the role that says when something happened before.

use es_framework::prelude::*;

mod a_word {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role = importer)]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod everybody {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role = public)]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod a_flag {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role)]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod no_role {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role = [])]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod two_words {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role = "old data")]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod twice {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", backdate_role = ["importer", "importer"])]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod internal {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal, backdate_role = "importer")]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
    }
}

mod of_an_event {
    use super::*;

    #[derive(Event)]
    #[event(backdate_role = "importer")]
    pub struct BookPurchasedEvent {
        pub id: Uuid,
    }
}

fn main() {}
