//! Wrong rules about the owner.

use es_framework::prelude::*;

mod unknown_field {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "reader", owner = readr)]
    pub struct BorrowBookCommand {
        pub id: Uuid,
        pub reader: Uuid,
    }
}

mod no_owner_id {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "reader", owner = reader)]
    pub struct BorrowBookCommand {
        pub id: Uuid,
        pub reader: Option<Uuid>,
    }
}

mod without_a_role {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", owner = reader)]
    pub struct BorrowBookCommand {
        pub id: Uuid,
        pub reader: Uuid,
    }
}

mod excepted_role_that_may_not_send {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "reader", owner = reader, owner_except = "staff")]
    pub struct BorrowBookCommand {
        pub id: Uuid,
        pub reader: Uuid,
    }
}

mod roles_that_are_no_texts {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = [reader, "staff", "staff"])]
    pub struct BorrowBookCommand {
        pub id: Uuid,
    }
}

mod no_roles {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = [])]
    pub struct BorrowBookCommand {
        pub id: Uuid,
    }
}

mod internal {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal, owner_except = "staff")]
    pub struct BorrowBookCommand {
        pub id: Uuid,
    }
}

fn main() {}
