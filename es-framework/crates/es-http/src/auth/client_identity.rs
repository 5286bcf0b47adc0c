//! The identity of a client: the requests of one identity share limits.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use es_runtime::net::{PeerAddress, client_network};

use super::VerifiedCaller;

/// The client whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientIdentity {
    /// An authenticated caller.
    Known(Arc<str>),
    /// All clients of this network.
    At(IpAddr),
}

impl ClientIdentity {
    /// Returns the caller, or the address at the other end of the connection.
    pub(crate) fn identify(caller: Option<&VerifiedCaller>, peer: Option<PeerAddress>) -> Self {
        match (caller, peer) {
            (Some(caller), _) => Self::Known(caller.name().into()),
            (None, Some(PeerAddress(address))) => Self::from_address(address),
            (None, None) => Self::from_address(Ipv6Addr::UNSPECIFIED.into()),
        }
    }

    pub(crate) fn from_address(address: IpAddr) -> Self {
        Self::At(client_network(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> ClientIdentity {
        ClientIdentity::from_address(address.parse().unwrap())
    }

    #[test]
    fn a_network_of_version_6_is_one_client() {
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:3:4:5:6"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.2"), client("192.0.2.1"));
    }
}
