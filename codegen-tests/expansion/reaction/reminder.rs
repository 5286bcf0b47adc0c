#[reaction(name = "Reminder", begin = new, attempts = 3)]
impl LoanReminder {
    /// Reminds the reader.
    #[deadline(at = due_at, unless(BookReturnedEvent, BookRemovedEvent))]
    fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }

    fn welcome(event: ReaderRegisteredEvent) -> Option<WelcomeReaderCommand> {
        None
    }

    fn block(
        event: &ReaderRemindedEvent,
        reminders: &Reminders,
        #[subject("/readers/{reader}")] reader: Option<&Reader>,
    ) -> Option<BlockCardCommand> {
        None
    }

    async fn mail(
        event: &ReaderRegisteredEvent,
        mailer: &Mailer,
        key: &ReactionKey,
    ) -> Result<(), MailError> {
        mailer.mail(event.id, key).await
    }

    async fn mail_guardian(
        event: &ReaderRegisteredEvent,
        mailer: &Mailer,
        #[subject("/readers/{guardian}")] guardian: Option<&Reader>,
    ) -> Result<(), MailError> {
        mailer.mail_guardian(event.id, guardian).await
    }

    async fn log(event: &ReaderRegisteredEvent) -> Result<(), LogError> {
        Ok(())
    }
}
