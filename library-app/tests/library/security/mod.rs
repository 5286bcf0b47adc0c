//! The library service as an attacker sees it: authentication, TLS, limits, floods, malformed input.

mod authentication;
mod erasure_site;
mod erasure_under_load;
mod hostile_reader;
mod issued_tokens;
mod large_events;
mod own_loans;
mod personal_data;
mod personal_faults;
