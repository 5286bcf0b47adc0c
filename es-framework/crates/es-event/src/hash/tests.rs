//! Unit tests of hashes, with vectors that other implementations published.

use super::*;
use crate::StreamLine;

/// The metadata of the vector of the audit specification.
const PUBLISHED: HashedMetadata<'_> = HashedMetadata {
    specversion: "1",
    id: 0,
    predecessor: Hash::ZERO,
    time: "2023-01-02T13:37:00.0001Z",
    source: "tag:thenativeweb.io,2023:test",
    subject: "/users/anne",
    event_type: "io.thenativeweb.test.registered",
    data_content_type: "application/json",
    traceparent: None,
    tracestate: None,
};

#[test]
fn the_published_vector_of_the_audit_specification_is_met() {
    let hash = Hash::of_event(HashVersion::V1, &PUBLISHED, br#"{"username":"anne"}"#);
    let published = "b6ae7a219468eeb110cf20151d9a8dc091ed40390a1411e36c183bf6a804900f";
    assert_eq!(hash.to_string(), published);
}

/// Events of a server of version 1.3, which the official client for Rust publishes.
#[test]
fn the_published_vectors_of_version_2_are_met() {
    let mut predecessor = Hash::ZERO;
    let lines: Vec<_> = include_str!("version_2_vectors.ndjson").lines().collect();
    for line in &lines {
        let StreamLine::Event(event) = StreamLine::parse(line.as_bytes()).unwrap() else {
            panic!("{line}")
        };
        assert_eq!(event.verify(predecessor), Ok(()));
        predecessor = event.hash;
    }
    assert_eq!(lines.len(), 3);
}

#[test]
fn only_version_2_covers_the_trace() {
    let traced = HashedMetadata {
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        tracestate: Some("a=1"),
        ..PUBLISHED
    };
    for (version, is_same) in [(HashVersion::V1, true), (HashVersion::V2, false)] {
        let hash = |metadata| Hash::of_event(version, metadata, b"{}");
        assert_eq!(hash(&traced) == hash(&PUBLISHED), is_same);
    }
}

#[test]
fn a_hash_covers_the_version_of_its_predecessor() {
    for version in [HashVersion::V1, HashVersion::V2] {
        let after = |predecessor| {
            let metadata = HashedMetadata {
                predecessor,
                ..PUBLISHED
            };
            Hash::of_event(version, &metadata, b"{}")
        };
        let digest = [7; 32];
        let one = after(Hash::new(HashVersion::V1, digest));
        assert_ne!(one, after(Hash::new(HashVersion::V2, digest)));
    }
}

#[test]
fn a_hash_reads_back_as_it_was_written() {
    let digest = std::array::from_fn(|index| u8::try_from(index * 7 % 256).unwrap());
    for version in [HashVersion::V1, HashVersion::V2] {
        let hash = Hash::new(version, digest);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let mut written = Vec::new();
        hash.encode_into(&mut written);
        assert_eq!(written, hash.to_string().into_bytes());
    }
    let last = format!("{}g", "0".repeat(63));
    let wide = format!("{}é", "0".repeat(62));
    let newer = format!("esdb:hash:v3:{}", "0".repeat(64));
    let twice = format!("esdb:hash:v2:esdb:hash:v2:{}", "0".repeat(64));
    for invalid in [
        "",
        "00",
        &"G".repeat(64),
        &"A".repeat(64),
        &last,
        &wide,
        &newer,
        &twice,
        "esdb:hash:v2:",
    ] {
        assert!(invalid.parse::<Hash>().is_err(), "{invalid}");
    }
}

#[test]
fn numbers_are_written_in_decimal() {
    for number in [0, 9, 10, 1_234_567_890, u64::MAX] {
        assert_eq!(
            decimal_digits(number).as_bytes(),
            number.to_string().as_bytes()
        );
    }
}
