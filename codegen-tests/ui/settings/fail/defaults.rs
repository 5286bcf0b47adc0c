//! Cases of `settings`: defaults.

mod default_of_an_option {
    //! Something is given where nothing may be.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(default = 28)]
        loan_days: Option<u32>,
    }
}

mod default_that_is_calculated {
    //! A default that `--help` cannot show.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(default = 4 * 7)]
        loan_days: u32,
    }
}

mod default_without_value {
    //! A key without its value.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(default)]
        loan_days: u32,
    }
}

fn main() {}
