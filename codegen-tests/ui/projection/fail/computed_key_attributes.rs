//! `#[key(with = …)]` names one function, which computes the whole key.

mod function_and_field {
    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
        starts_at: Timestamp,
    }

    #[derive(ReadModel)]
    #[read_model(table = "months")]
    struct HallMonth {
        #[key]
        hall: String,
        #[key]
        month: Date,
    }

    #[projection]
    impl HallMonth {
        #[key(hall, with = month_of)]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }
    }
}

mod two_functions {
    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
        starts_at: Timestamp,
    }

    #[derive(ReadModel)]
    #[read_model(table = "months")]
    struct HallMonth {
        #[key]
        hall: String,
        #[key]
        month: Date,
    }

    #[projection]
    impl HallMonth {
        #[key(with = hall_of, with = month_of)]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }
    }
}

mod text {
    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
    }

    #[derive(ReadModel)]
    #[read_model(table = "halls")]
    struct Hall {
        #[key]
        hall: String,
    }

    #[projection]
    impl Hall {
        #[key(with = "hall_of")]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }
    }
}

mod another_word {
    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallsBookedEvent {
        halls: Vec<String>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "halls")]
    struct Hall {
        #[key]
        hall: String,
    }

    #[projection]
    impl Hall {
        #[each(halls)]
        #[key(by = hall_of)]
        fn booked(row: Option<Self>, _: &String, _: &HallsBookedEvent) -> Option<Self> {
            row
        }
    }
}

mod above_a_field {
    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
        starts_at: Timestamp,
    }

    #[derive(ReadModel)]
    #[read_model(table = "months")]
    struct HallMonth {
        #[key(with = month_of)]
        month: String,
    }

    #[projection]
    impl HallMonth {
        #[key(with = month_of)]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }
    }

    fn month_of(_: &HallBookedEvent) -> String {
        String::new()
    }
}

fn main() {}
