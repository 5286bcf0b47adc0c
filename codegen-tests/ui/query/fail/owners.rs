//! Wrong rules about the owner of what a query asks for.

use es_framework::prelude::*;

mod unknown_field {
    use super::*;

    #[derive(Query)]
    #[query(path = "/readers/{reader}/loans", role = "reader", owner = raeder, paged)]
    pub struct LoansOfReader {
        pub reader: Uuid,
    }
}

mod several_owners {
    use super::*;

    #[derive(Query)]
    #[query(path = "/loans", role = "reader", owner = readers, paged)]
    pub struct LoansOfReaders {
        pub readers: Vec<Uuid>,
    }
}

fn main() {}
