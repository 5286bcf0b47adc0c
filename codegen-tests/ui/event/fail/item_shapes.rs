//! Cases of `event`: item shapes.

mod a_generic_struct {
    //! An event with a type parameter.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent<T> {
        id: T,
    }
}

mod a_reference {
    //! A field that borrows.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        isbn: &'static str,
    }
}

mod a_tuple_struct {
    //! An event whose fields have no names.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent(Uuid);
}

mod a_union {
    //! An event that is a union.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    union BookEvent {
        id: u64,
        isbn: u64,
    }
}

mod a_unit_struct {
    //! An event without braces.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct StockCountedEvent;
}

mod an_enum {
    //! An event that is an enum.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    enum BookEvent {
        Purchased { id: Uuid },
        Removed { id: Uuid },
    }
}

fn main() {}
