//! The library service as an attacker sees it: authentication, TLS, limits, floods, malformed input.

mod authentication;
mod erasure_site;
mod erasure_under_load;
mod flood;
mod hostile_reader;
mod injection;
mod issued_tokens;
mod large_events;
mod limits;
mod malformed_requests;
mod open_service;
mod own_loans;
mod personal_data;
mod tls_and_headers;
