/// Purchasing is always possible.
#[handler]
#[cfg(feature = "stock")]
pub(crate) fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}
