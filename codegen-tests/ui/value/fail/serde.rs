//! Cases of `value`: serde.

mod field_without_a_name_in_json {
    //! A name that serde cannot put into camelCase.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price {
        währung: String,
    }
}

mod misspelt_shape {
    //! A misspelt key above the value.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[serde(tga = "kind")]
    enum Price {
        Free,
        Fixed { cents: u32 },
    }
}

mod serde_default {
    //! A key that only the fields may have.

    use es_framework::prelude::*;

    #[derive(Value, Default)]
    #[serde(default)]
    struct Price {
        cents: u32,
    }
}

mod member_that_is_missing_when_it_is_read {
    //! Members that are not always written.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Price {
        Fixed {
            #[serde(skip_serializing_if = "Vec::is_empty")]
            discounts: Vec<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            cents: Option<u32>,
        },
        Free(#[serde(skip_serializing_if = "Vec::is_empty")] Vec<u32>),
    }
}

mod option_of_an_option {
    //! Two values that have one JSON.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price {
        cents: Vec<(u32, Option<Option<u32>>)>,
    }
}

mod skipped_parts {
    //! Parts that are not in the JSON.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price {
        #[serde(skip)]
        cents: u32,
        #[serde(skip_serializing)]
        euros: u32,
    }
}

mod serde_rename_all {
    //! The names of a value are in camelCase.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[serde(rename_all = "UPPERCASE")]
    enum Status {
        Available,
    }
}

mod two_fields_with_one_member {
    //! Two fields that are one member of the JSON.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price {
        in_cents: u32,
        #[serde(rename = "inCents")]
        cents: u32,
    }
}

mod two_variants_with_one_name {
    //! Two variants that are one word in JSON.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Price {
        Low,
        #[serde(rename = "low")]
        Reduced,
    }
}

mod variant_without_a_name_in_json {
    //! A name that serde cannot put into camelCase.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Price {
        Ermäßigt,
    }
}

mod names_that_do_not_follow_from_the_declaration {
    //! Names that requests could not be compared with.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Offer {
        #[serde(rename_all = "snake_case")]
        Fixed {
            #[serde(rename(serialize = "price", deserialize = "cents"))]
            price_in_cents: u32,
        },
    }
}

mod untagged_variants_in_the_wrong_order {
    //! A variant that is read in place of a later one with more members.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[serde(untagged)]
    enum Size {
        Nothing {},
        Exact { mm: u32 },
        Range { mm: u64, to: u64 },
    }
}

mod untagged_variants_that_have_no_order {
    //! Variants of which each is read in place of the other.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[serde(untagged)]
    enum Contact {
        Mail {
            name: String,
            mail: Option<String>,
        },
        Phone {
            #[serde(rename = "name")]
            person: Box<str>,
            #[serde(default)]
            number: String,
        },
    }
}

fn main() {}
