//! Cases of `PublicEvent`: shapes.

mod an_enum {
    //! A public event is a struct.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    enum CopyChanged {
        Lent { id: Uuid },
        Returned { id: Uuid },
    }
}

mod a_tuple_struct {
    //! A public event has named fields.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable(Uuid);
}

mod a_generic_struct {
    //! A public event has no generic parameters.

    use es_framework::prelude::*;

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable<T> {
        id: T,
    }
}

fn main() {}
