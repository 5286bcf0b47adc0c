#[reaction]
impl MorningCount {
    #[schedule(cron = "0 6 * * *", zone = "Europe/Berlin", missed = all)]
    fn count(time: Timestamp) -> CountStockCommand {
        CountStockCommand { day: time }
    }

    #[schedule(cron = "@daily")]
    async fn print(printer: &Printer) -> Result<(), PrintError> {
        printer.print().await
    }
}
