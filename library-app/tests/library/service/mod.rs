//! The library service as its clients see it: commands, queries and the pages.

mod console;
mod console_walk;
mod event_source;
mod eventql_editor;
mod how_to_pages;
mod lending_rules;
mod overdue_loans;
mod people_page;
mod public_event_receiver;
mod queries;
mod readme;
mod reservations;
mod try_it_page;
mod unique_cards;
mod walkthrough;
