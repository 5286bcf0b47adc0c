#[upcast]
#[cfg(feature = "lending")]
pub(crate) fn nobody_asks_any_more(_: BookScannedEvent) {}
