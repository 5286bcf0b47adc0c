//! The stock: every copy that the library has, as clients browse it.

mod browse;
mod copy;
mod find;
