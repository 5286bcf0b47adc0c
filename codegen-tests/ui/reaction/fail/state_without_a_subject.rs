//! A call by a schedule has no event, whose subject would be that of the state.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct StockCountedEvent {}

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
    async fn print(stock: &Stock) -> Result<(), std::io::Error> {
        let _ = stock;
        Ok(())
    }
}

fn main() {}
