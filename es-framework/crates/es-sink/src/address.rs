//! The addresses that a webhook may connect to. A name may lead to another address at each connection, so the addresses are
//! checked that the connection uses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// The addresses that the requests of one webhook may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// Those of the internet.
    Public,
    /// Those of the internet, of private networks and of this machine.
    Any,
    /// Those of private networks and of this machine, as for requests without encryption.
    Private,
}

/// The address of a webhook that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedAddress {
    #[error("the address of a webhook is an absolute URL, such as https://example.com/events")]
    NoUrl,
    #[error(
        "the address of a webhook begins with https://, or with http:// in a private network with `allow_private = true`"
    )]
    Scheme,
    #[error("the address of a webhook has no user and password: a signature shows who sends")]
    Credentials,
    #[error(
        "{0} is no public address: `allow_private = true` allows addresses of private networks and of this machine"
    )]
    Private(String),
    #[error("{0} is a public address, to which only https:// leads")]
    Unencrypted(String),
}

impl AddressPolicy {
    /// Returns the policy for an address from the settings, which is parsed.
    pub(crate) fn for_url(text: &str, allow_private: bool) -> Result<(Url, Self), RefusedAddress> {
        let url: Url = text.parse().map_err(|_| RefusedAddress::NoUrl)?;
        let policy = match (url.scheme(), allow_private) {
            ("https", false) => Self::Public,
            ("https", true) => Self::Any,
            ("http", true) => Self::Private,
            _ => return Err(RefusedAddress::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RefusedAddress::Credentials);
        }
        let host = url.host_str().ok_or(RefusedAddress::NoUrl)?;
        // No name is looked up for an address in numbers.
        if let Ok(ip) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            policy.check(host, [ip])?;
        }
        Ok((url, policy))
    }

    fn permits(self, ip: IpAddr) -> bool {
        match self {
            Self::Public => is_public(ip),
            Self::Any => true,
            Self::Private => !is_public(ip),
        }
    }

    /// Checks that the policy permits one of the addresses of a host.
    fn check(
        self,
        host: &str,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), RefusedAddress> {
        if addresses.into_iter().any(|ip| self.permits(ip)) {
            return Ok(());
        }
        Err(match self {
            Self::Private => RefusedAddress::Unencrypted(host.to_owned()),
            Self::Public | Self::Any => RefusedAddress::Private(host.to_owned()),
        })
    }
}

/// Looks up a name, and leaves out the addresses that the policy does not permit.
impl Resolve for AddressPolicy {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = *self;
        Box::pin(async move {
            let host = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            policy.check(host, found.iter().map(SocketAddr::ip))?;
            let permitted = found
                .into_iter()
                .filter(move |one| policy.permits(one.ip()));
            Ok(Box::new(permitted) as Addrs)
        })
    }
}

/// Returns true for an address of the internet, as the registries of IANA for special addresses have them.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let is_special = match ip.octets() {
        // This network, private, shared by a provider, loopback, link-local with the services for metadata.
        [0 | 10 | 127, ..] | [100, 64..=127, ..] | [169, 254, ..] => true,
        [172, 16..=31, ..] | [192, 168, ..] => true,
        // Protocols, documentation, relays, measurements, multicast, reserved.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => true,
        [198, 51, 100, _] | [203, 0, 113, _] | [224..=255, ..] => true,
        _ => false,
    };
    !is_special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        // Addresses of version 4 in other clothes: mapped, and translated by a gateway.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let bits = (u32::from(high) << 16) | u32::from(low);
            is_public_v4(Ipv4Addr::from_bits(bits))
        }
        // Protocols such as Teredo, documentation, and networks of 6to4.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] => false,
        [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        let special = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.0.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
        ];
        for text in special {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn an_address_in_numbers_is_refused_in_every_notation() {
        for url in [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://[::ffff:169.254.169.254]/latest",
            "https://169.254.169.254/",
        ] {
            let refused = AddressPolicy::for_url(url, false).unwrap_err();
            assert!(
                matches!(refused, RefusedAddress::Private(_)),
                "{url}: {refused}"
            );
            assert!(AddressPolicy::for_url(url, true).is_ok(), "{url}");
        }
        for (url, allow_private, expected) in [
            ("http://example.com/", false, RefusedAddress::Scheme),
            ("ftp://example.com/", true, RefusedAddress::Scheme),
            ("/events", true, RefusedAddress::NoUrl),
            (
                "https://me:secret@example.com/",
                false,
                RefusedAddress::Credentials,
            ),
            (
                "http://1.1.1.1/",
                true,
                RefusedAddress::Unencrypted("1.1.1.1".to_owned()),
            ),
        ] {
            assert_eq!(
                AddressPolicy::for_url(url, allow_private),
                Err(expected),
                "{url}"
            );
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_refused() {
        let resolve = |policy: AddressPolicy| policy.resolve("localhost".parse().unwrap());
        assert!(resolve(AddressPolicy::Public).await.is_err());
        assert!(resolve(AddressPolicy::Private).await.is_ok());
    }
}
