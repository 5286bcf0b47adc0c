//! The settings of a client and its description.

use super::{ClientSettings, EventSourcingDbStore, TOKEN, client};
use crate::InvalidClientSettings;
use es_store::StoreCatalog as _;

fn refused(url: &str, token: &str) -> InvalidClientSettings {
    EventSourcingDbStore::new(ClientSettings::new(url, token)).unwrap_err()
}

#[test]
fn a_url_is_plain_http() {
    for url in [
        "",
        "localhost:3000",
        "ftp://localhost",
        "http://",
        "http://user:password@localhost",
        "http://localhost/?a=b",
        "http://localhost/#a",
        "http://localhost,",
        "http://localhost,b:3000",
    ] {
        assert_eq!(refused(url, TOKEN), InvalidClientSettings::Url, "{url}");
    }
    for url in [
        "http://localhost:3000",
        "https://example.com/base",
        "http://[::1]:3000/",
    ] {
        let address = client(url, TOKEN).http_client.address.clone();
        assert_eq!(address, url.trim_end_matches('/'));
    }
}

#[test]
fn a_token_can_stand_in_a_header() {
    for token in ["", "two words", "line\nbreak", "ü"] {
        assert_eq!(
            refused("http://localhost", token),
            InvalidClientSettings::ApiToken
        );
    }
}

#[test]
fn the_token_is_shown_nowhere() {
    let settings = ClientSettings::new("http://localhost:1", TOKEN);
    let client = client("http://localhost:1", TOKEN);
    for text in [
        format!("{settings:?}"),
        format!("{client:?}"),
        client.description(),
    ] {
        assert!(!text.contains(TOKEN), "{text}");
    }
    assert_eq!(
        client.description(),
        "EventSourcingDB at http://localhost:1"
    );
}
