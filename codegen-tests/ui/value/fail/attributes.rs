//! Cases of `value`: attributes.

mod rule_on_a_variant {
    //! A rule for all of a variant.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Delivery {
        Collected,
        #[validate(text(max = 5))]
        Sent(String),
    }
}

mod rule_on_the_value {
    //! A rule for all of a value.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[validate(text(max = 5))]
    struct Isbn(String);
}

mod rules_with_mistakes {
    //! All mistakes are told at once.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Line {
        #[validate(txt(max = 5))]
        isbn: String,
        #[validate(range())]
        copies: u8,
    }
}

mod unreadable_part_of_an_attribute {
    //! A part of an attribute that cannot be parsed hides no other mistake.

    use es_framework::prelude::*;

    #[derive(Value)]
    #[serde(tag = "kind", = 1, rename_all = "UPPERCASE")]
    enum Delivery {
        #[serde(skip, = 1)]
        Collected,
        Posted {
            #[serde(rename(serialize = "a"), ! , skip_serializing)]
            address: String,
        },
    }
}

fn main() {}
