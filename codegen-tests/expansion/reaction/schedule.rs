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

    #[schedule(cron = "@monthly")]
    fn invoice(
        time: Timestamp,
        #[subject("/clubs", recursive)] clubs: &Clubs,
    ) -> Vec<InvoiceClubCommand> {
        clubs.invoices(time)
    }

    #[schedule(cron = "@monthly")]
    async fn report(
        #[subject("/clubs", recursive)] clubs: &Clubs,
        printer: &Printer,
    ) -> Result<(), PrintError> {
        printer.print_all(clubs).await
    }
}
