#[derive(PublicEvent)]
#[public_event(package = "org.other", name = "Copy", version = 2)]
struct CopyAvailable {}
