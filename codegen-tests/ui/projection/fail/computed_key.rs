//! A function computes the key of a row.

mod missing_function {
    //! The function does not exist.

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
        #[key(with = month_of)]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }

        #[key(with = Self::month_of)]
        fn created(event: &HallCreatedEvent) -> Self {
            Self {
                hall: event.hall.clone(),
                month: Date::ZERO,
            }
        }
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallCreatedEvent {
        hall: String,
    }
}

mod other_result {
    //! The function returns something else than the key, or only a part of it.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
        starts_at: Timestamp,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallCancelledEvent {
        hall: String,
        starts_at: Timestamp,
    }

    #[derive(ReadModel)]
    #[read_model(table = "other_months")]
    struct HallMonth {
        #[key]
        hall: String,
        #[key]
        month: Date,
    }

    fn month_of(event: &HallBookedEvent) -> Date {
        event.starts_at.to_zoned(es_framework::jiff::tz::TimeZone::UTC).date()
    }

    fn month_text_of(event: &HallCancelledEvent) -> (String, String) {
        (event.hall.clone(), event.starts_at.to_string())
    }

    #[projection]
    impl HallMonth {
        #[key(with = month_of)]
        fn booked(row: Option<Self>, _: &HallBookedEvent) -> Option<Self> {
            row
        }

        #[key(with = month_text_of)]
        fn cancelled(self, _: &HallCancelledEvent) -> Self {
            self
        }
    }
}

mod other_parameters {
    //! The function takes what the step takes besides the row.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallBookedEvent {
        hall: String,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct HallsClosedEvent {
        halls: Vec<String>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "halls")]
    struct Hall {
        #[key]
        hall: String,
    }

    fn by_value(event: HallBookedEvent) -> String {
        event.hall
    }

    fn of_the_event(_: &HallsClosedEvent) -> String {
        String::new()
    }

    #[projection]
    impl Hall {
        #[key(with = by_value)]
        fn booked(event: &HallBookedEvent) -> Self {
            Self {
                hall: event.hall.clone(),
            }
        }

        #[each(halls)]
        #[key(with = of_the_event)]
        fn closed(self, _: &String, _: &HallsClosedEvent) -> Option<Self> {
            None
        }
    }
}

fn main() {}
