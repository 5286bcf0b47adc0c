//! Cases of `state`: serde.

mod default_without_a_name_in_json {
    //! Another attribute of serde gives no name.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book {
        #[serde(default)]
        größe: u32,
    }
}

mod field_without_a_name_in_json {
    //! A name that serde cannot put into camelCase.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book {
        größe: u32,
    }
}

mod serde_rename_all {
    //! The names of a state are in camelCase.

    use es_framework::prelude::*;

    #[derive(State)]
    #[serde(rename_all = "UPPERCASE")]
    struct Book {
        copies: u32,
    }
}

mod serde_tag {
    //! Only the framework reads the JSON of a state, so its shape is no matter.

    use es_framework::prelude::*;

    #[derive(State)]
    #[serde(tag = "status")]
    enum Book {
        Available,
        Lent { reader: Uuid },
    }
}

mod serde_that_is_no_list {
    //! An attribute without parentheses.

    use es_framework::prelude::*;

    #[derive(State)]
    #[serde = "tag"]
    struct Book {
        copies: u32,
    }
}

mod two_fields_with_one_member {
    //! Two fields that are one member of the JSON.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book {
        due_at: Timestamp,
        #[serde(rename = "dueAt")]
        due: Timestamp,
    }
}

mod variant_without_a_name_in_json {
    //! A name that serde cannot put into camelCase.

    use es_framework::prelude::*;

    #[derive(State)]
    enum Book {
        Verfügbar,
    }
}

fn main() {}
