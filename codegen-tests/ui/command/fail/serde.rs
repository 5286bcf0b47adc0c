//! Cases of `command`: serde.

mod field_without_a_name_in_json {
    //! A name that camelCase cannot be made of.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        __: i64,
    }
}

mod serde_default {
    //! A default for all fields at once.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[serde(default)]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod serde_deny_unknown_fields {
    //! Every command refuses unknown members.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[serde(deny_unknown_fields)]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod serde_flatten {
    //! A field that is not one member.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[serde(flatten)]
        value: std::collections::BTreeMap<String, String>,
    }
}

mod serde_rename_all {
    //! Names on the wire are camelCase.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[serde(rename_all = "snake_case")]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod serde_skip {
    //! A field that is no member.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[serde(skip)]
        value: String,
    }
}

mod serde_transparent {
    //! Another shape of JSON.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[serde(transparent)]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod serde_two_names {
    //! A member with two names.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[serde(rename(serialize = "a", deserialize = "b"))]
        value: String,
    }
}

mod serde_unknown_key {
    //! A key that serde does not have.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[serde(renam = "a")]
        value: String,
    }
}

mod serde_value_that_is_no_text {
    //! A value of the wrong type.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        #[serde(default = 1)]
        value: String,
    }
}

mod two_fields_with_one_member {
    //! Two fields of one name in JSON.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        num_pages: i64,
        #[serde(rename = "numPages")]
        pages: i64,
    }
}

fn main() {}
