#[publish]
fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
    CopyAvailable { id: event.id }
}
