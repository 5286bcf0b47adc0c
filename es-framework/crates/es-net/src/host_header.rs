//! The checks of the header `Host`.

use std::net::IpAddr;

use hyper::{
    HeaderMap, Request, Version,
    header::{HOST, HeaderValue},
};

use crate::peer_address::PeerAddress;

/// Returns whether a request that came over a connection has exactly one `Host`, as RFC 9112 (section 3.2)
/// requires from HTTP/1.1 on. Requests inside of the process need none.
#[doc(hidden)]
pub fn has_valid_host<B>(request: &Request<B>) -> bool {
    if request.extensions().get::<PeerAddress>().is_none() {
        return true;
    }
    let count = request.headers().get_all(HOST).iter().count();
    count == 1 || (count == 0 && request.version() < Version::HTTP_11)
}

/// Returns whether a request is meant for this machine: its host is a loopback address, `localhost`, or a name
/// below it, which resolvers keep on the machine (RFC 6761, section 6.3). The owner of a domain can let its
/// name lead to a loopback address (DNS rebinding), and a page of that domain is no client of this service.
#[doc(hidden)]
pub fn names_this_machine<B>(request: &Request<B>) -> bool {
    // A request to a proxy names the host in its target, and the header is ignored (RFC 9112, section 3.2.2).
    match request.uri().host() {
        Some(host) => is_this_machine(host),
        None => host_header_names_this_machine(request.headers()),
    }
}

fn host_header_names_this_machine(headers: &HeaderMap) -> bool {
    let host = |value: &HeaderValue| {
        value
            .to_str()
            .is_ok_and(|host| is_this_machine(without_port(host)))
    };
    // Every browser sends one.
    headers.get_all(HOST).iter().all(host)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = address.unwrap_or(host).parse::<IpAddr>() {
        return address.to_canonical().is_loopback();
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(host: &str) -> bool {
        let request = Request::builder().uri("/books").header(HOST, host);
        names_this_machine(&request.body(()).unwrap())
    }

    #[test]
    fn a_loopback_address_and_localhost_are_this_machine() {
        for own in [
            "localhost:8080",
            "LOCALHOST",
            "localhost.",
            "library.localhost:8080",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:8080",
            "[::1]",
            "[::ffff:127.0.0.1]:8080",
        ] {
            assert!(names(own), "{own}");
        }
    }

    #[test]
    fn a_name_of_a_foreign_domain_is_not_this_machine() {
        for foreign in [
            "evil.example",
            "localhost.evil.example:8080",
            "evillocalhost",
            "127.0.0.1.evil.example",
            "127.0.0.1:x",
            "192.0.2.7",
            "0.0.0.0:8080",
            "[2001:db8::1]",
            "[::1",
            "",
        ] {
            assert!(!names(foreign), "{foreign}");
        }
    }

    #[test]
    fn the_host_of_the_target_counts_before_the_header() {
        let request = |target: &str, host: &str| {
            Request::builder()
                .uri(target)
                .header(HOST, host)
                .body(())
                .unwrap()
        };
        assert!(!names_this_machine(&request(
            "http://evil.example/books",
            "localhost"
        )));
        assert!(names_this_machine(&request(
            "http://localhost/books",
            "evil.example"
        )));
        assert!(names_this_machine(
            &Request::builder().uri("/books").body(()).unwrap()
        ));
    }
}
