//! The request header by which a client of the event store accepts batches of lines.

/// The request header `Event-Store-Line-Batches: true`. With it, an HTTP chunk of a streamed response
/// may hold many lines. Without it, each chunk holds one line, because some clients of the protocol
/// expect that.
pub const LINE_BATCHES_HEADER: &str = "event-store-line-batches";
