//! The limits of connections.

use std::time::Duration;

/// The limits on what a client may use before its request reaches a route.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The number of connections that are open at once. One more waits until another one ends.
    pub connections: usize,
    /// The time for the head of a request, including the idle time before it.
    pub head_time: Duration,
    /// The time for the first request after connecting, while all connections are in use.
    pub first_request_time_when_full: Duration,
    /// The time for the rest of a request or for the next request, while all connections are in use.
    pub idle_time_when_full: Duration,
    /// The time for the TLS handshake.
    pub handshake_time: Duration,
    /// The length of a request's head in bytes, rounded up to one read. At least 8 KiB.
    pub head_bytes: usize,
    /// The number of header fields of a request. At least 100.
    pub headers: usize,
    /// The time in which a client must accept at least one byte of a response.
    pub write_time: Duration,
    /// The time that open requests have to end after the server starts to shut down.
    pub drain_time: Duration,
}

impl ConnectionLimits {
    /// The limits of a server that is not configured.
    pub const DEFAULT: Self = Self {
        // Two listeners in one process stay below 1,024 open files, a common limit.
        connections: 480,
        head_time: Duration::from_secs(30),
        first_request_time_when_full: Duration::from_millis(500),
        idle_time_when_full: Duration::from_secs(1),
        handshake_time: Duration::from_secs(10),
        head_bytes: 64 * 1024,
        headers: 64,
        write_time: Duration::from_secs(30),
        drain_time: Duration::from_secs(10),
    };
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
