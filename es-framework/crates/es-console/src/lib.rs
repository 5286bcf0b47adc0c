//! The console: pages that show the events, subjects, states and components of an application.

#![doc(hidden)]
#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod access;
mod assets;
mod bar_chart;
mod command_charts;
mod command_list;
mod component_list;
mod console;
mod console_link;
mod event_details;
mod event_filter;
mod event_list;
mod event_live;
mod event_preview;
mod event_search;
mod eventql_editor;
mod eventql_error;
mod eventql_reference;
mod eventql_run;
mod eventql_table;
mod json_file;
mod json_view;
mod layout;
mod model_view;
mod notice;
mod operator_action;
mod overview;
mod page_parts;
mod page_request;
mod people;
mod query_values;
mod router;
mod row_list;
mod session;
mod state_fold;
mod state_view;
mod subject_list;
mod subject_timeline;
#[cfg(test)]
mod tests;
mod text_view;

pub use console::{Console, DeclaredState};
pub use console_link::ConsoleLink;
pub use router::router;
pub use session::SessionLog;
