//! Event stores on SQL databases.
