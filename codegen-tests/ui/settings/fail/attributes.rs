//! Cases of `settings`: attributes.

mod duplicate_key {
    //! One key twice.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(default = 28, default = 14)]
        loan_days: u32,
    }
}

mod env_in_lower_case {
    //! Environment variables are in upper case.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(env = "loan-days")]
        loan_days: u32,
    }
}

mod env_that_is_no_text {
    //! A name without quotation marks.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(env = LOAN_DAYS)]
        loan_days: u32,
    }
}

mod misspelt_key {
    //! A misspelt key.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting(defautl = 28)]
        loan_days: u32,
    }
}

mod name_that_is_no_flag {
    //! A name that nobody can type.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        läuft: u32,
    }
}

mod name_with_an_underscore_in_front {
    //! A flag starts with a letter.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        _loan_days: u32,
    }
}

mod no_doc_comment {
    //! `--help` would have nothing to say.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        loan_days: u32,
    }
}

mod one_variable_twice {
    //! Two settings of one environment variable.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        loan_days: u32,
        /// How long a film is lent.
        #[setting(env = "LOAN_DAYS")]
        film_days: u32,
    }
}

mod setting_on_the_struct {
    //! Each field has keys of its own.

    use es_framework::prelude::*;

    #[derive(Settings)]
    #[setting(default = 28)]
    struct Lending {
        /// How long a copy is lent.
        loan_days: u32,
    }
}

mod settings_above_a_field {
    //! The attribute of the struct above a field.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[settings(unused)]
        loan_days: u32,
    }
}

mod unused_with_a_value {
    //! A key without a value.

    use es_framework::prelude::*;

    #[derive(Settings)]
    #[settings(unused = true)]
    struct Lending {
        /// How long a copy is lent.
        loan_days: u32,
    }
}

mod setting_that_is_no_list {
    //! An attribute without parentheses.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending {
        /// How long a copy is lent.
        #[setting = 28]
        loan_days: u32,
    }
}

fn main() {}
