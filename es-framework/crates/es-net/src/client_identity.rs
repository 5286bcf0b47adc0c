//! The identity of a client: the requests of one identity share limits.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use crate::peer_address::PeerAddress;

/// The client whose requests are counted together.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClientIdentity {
    /// An authenticated caller.
    Known(Arc<str>),
    /// All clients of this network.
    At(IpAddr),
}

impl ClientIdentity {
    /// Returns the caller of this name, or the address at the other end of the connection.
    #[must_use]
    pub fn identify(caller: Option<&str>, peer: Option<PeerAddress>) -> Self {
        match (caller, peer) {
            (Some(caller), _) => Self::Known(caller.into()),
            (None, Some(PeerAddress(address))) => Self::from_address(address),
            (None, None) => Self::from_address(Ipv6Addr::UNSPECIFIED.into()),
        }
    }

    /// Returns the network of an address.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        Self::At(client_network(address))
    }
}

/// Returns the address whose requests are counted together. Of an IPv6 address, only the first half counts,
/// since one customer commonly has all addresses of the other half.
fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
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
