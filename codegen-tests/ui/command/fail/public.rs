//! Wrong uses of `role = public`, for callers without a token.

use es_framework::prelude::*;

mod among_roles {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = ["staff", public])]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

mod name_of_a_role {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = ["staff", "public"])]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

mod beside_a_role {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "staff", role = public)]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

mod with_an_owner {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = public, owner = reader, owner_except = "staff")]
    pub struct ReportBookCommand {
        pub id: Uuid,
        pub reader: Uuid,
    }
}

mod with_an_owner_in_the_handler {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = public, owner_except = public)]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

mod internal {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal, role = public)]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

mod without_a_token {
    use super::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = public, role_without_token)]
    pub struct ReportBookCommand {
        pub id: Uuid,
    }
}

fn main() {}
