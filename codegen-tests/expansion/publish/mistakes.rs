#[publish(personal)]
async fn copy_available(event: &BookReturnedEvent, clock: &Clock) {}
