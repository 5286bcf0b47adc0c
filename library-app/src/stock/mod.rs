//! The stock: every copy that the library has, as clients browse it.

mod browse;
mod catalog;
mod copy;
mod find;
#[cfg(test)]
mod tests;
