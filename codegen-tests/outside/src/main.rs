//! Two commands in an application that names the framework `fw`.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

mod book;
mod borrow;
mod give_back;

fn main() -> fw::Result<()> {
    fw::App::new("outside-shop").run()
}
