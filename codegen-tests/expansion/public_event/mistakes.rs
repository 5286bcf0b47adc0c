#[derive(PublicEvent)]
#[public_event(version = 0)]
struct CopyAvailable(Uuid);
