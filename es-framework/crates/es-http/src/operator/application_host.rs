//! The host of an application in a URL.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};

/// The host in the URL of a running application: an IP address or a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ApplicationHost {
    Address(IpAddr),
    Name(String),
}

impl FromStr for ApplicationHost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(address) = text.parse::<IpAddr>() {
            // An application that listens on all addresses is reached on this one.
            return Ok(Self::Address(if address.is_unspecified() {
                Ipv4Addr::LOCALHOST.into()
            } else {
                address
            }));
        }
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if (1..=253).contains(&text.len()) && text.chars().all(is_of_name) {
            Ok(Self::Name(text.to_owned()))
        } else {
            Err("it is no address and no host name")
        }
    }
}

/// Writes the host as a URL has it.
impl fmt::Display for ApplicationHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stands_in_a_url() {
        for (given, shown) in [
            ("127.0.0.1", "127.0.0.1"),
            ("0.0.0.0", "127.0.0.1"),
            ("::", "127.0.0.1"),
            ("::1", "[::1]"),
            ("library.example.com", "library.example.com"),
        ] {
            assert_eq!(given.parse::<ApplicationHost>().unwrap().to_string(), shown);
        }
        for wrong in ["", "a b", "user@library", "library/", "library:80", "[::1]"] {
            assert!(wrong.parse::<ApplicationHost>().is_err(), "{wrong}");
        }
    }
}
