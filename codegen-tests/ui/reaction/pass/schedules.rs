//! Schedules beside functions that follow from events, with and without their time.

use es_framework::{prelude::*, reaction::React};

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

struct Printer;

#[reaction(name = "CountsOfStock")]
impl Printer {
    #[schedule(cron = "0 6 * * MON-FRI", zone = "Europe/Berlin", missed = all)]
    fn count(time: Timestamp) -> CountStockCommand {
        CountStockCommand {
            day: time.to_string(),
        }
    }

    #[schedule(cron = "@daily", missed = none)]
    fn count_again() -> Option<CountStockCommand> {
        None
    }

    #[schedule(cron = "0 6 L * *")]
    async fn print(
        time: Timestamp,
        clock: &Clock,
        key: &ReactionKey,
    ) -> Result<(), std::io::Error> {
        println!("{time} {} {key}", clock.now());
        Ok(())
    }

    async fn print_count(_: &StockCountedEvent) -> Result<(), std::io::Error> {
        Ok(())
    }
}

#[test]
fn schedules_and_events_are_steps_of_one_reaction() {
    assert_eq!(Printer::STEPS.len(), 4);
}
