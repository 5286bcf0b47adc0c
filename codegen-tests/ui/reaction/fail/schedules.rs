//! Cases of `reaction`: schedules.

mod schedule_without_a_cron_expression {
    //! A schedule has a cron expression.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule]
        fn count() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(zone = "Europe/Berlin")]
        fn count_again() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod expression_that_is_none {
    //! A cron expression has five fields, whose values exist.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "61 6 * * *")]
        fn count_a() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 25 0 13 FOO")]
        fn count_of_no_day() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * *")]
        fn count_b() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 0 6 * * *")]
        fn count_c() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "at six")]
        fn count_d() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = 6)]
        fn count_e() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod day_that_never_comes {
    //! A schedule has times.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "0 6 30 2 *")]
        fn count() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod zone_that_is_none {
    //! The time zone exists.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "0 6 * * *", zone = "Europe/Berlim")]
        fn count() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * * *", zone = "the library's")]
        fn count_again() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod rule_that_is_none {
    //! The rules for missed times are known.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "0 6 * * *", missed = two)]
        fn count() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * * *", missing = all)]
        fn count_again() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod schedule_and_deadline {
    //! A function has a schedule or a deadline.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "0 6 * * *")]
        #[deadline(at = due_at)]
        fn count() -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }
    }
}

mod parameters_of_a_schedule {
    //! A schedule has no event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct StockCountedEvent {}

    #[derive(Command)]
    #[command(subject = "/counts/{day}", internal)]
    struct CountStockCommand {
        day: String,
    }

    #[handler]
    fn count(_: CountStockCommand) -> StockCountedEvent {
        StockCountedEvent {}
    }

    #[derive(State)]
    struct Stock {}

    #[evolve]
    impl Stock {
        fn counted(_: &StockCountedEvent) -> Self {
            Self {}
        }
    }

    struct MorningCount;

    #[reaction]
    impl MorningCount {
        #[schedule(cron = "0 6 * * *")]
        fn count(_: &StockCountedEvent) -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * * *")]
        fn count_again(_: Timestamp, _: &Clock) -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * * *")]
        fn count_of_a_hall(#[subject("/halls/{id}")] _: &Stock) -> CountStockCommand {
            CountStockCommand { day: String::new() }
        }

        #[schedule(cron = "0 6 * * *")]
        async fn print(_: Timestamp, _: Option<&Stock>) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

fn main() {}
