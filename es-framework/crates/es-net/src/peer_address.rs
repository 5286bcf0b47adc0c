//! The address of a client.

use std::net::IpAddr;

/// The address of the client. Every request has it among its extensions.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub IpAddr);
