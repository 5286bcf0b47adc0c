//! Two commands in an application that names the framework `fw`.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

mod borrow;
mod give_back;

fn main() {
    match fw::command::Registry::builder().linked().build() {
        Ok(registry) => {
            for command in registry.commands() {
                println!("{} {}", command.path, command.declaration);
            }
            for event in registry.events() {
                println!("{} {}", event.event_type, event.declaration);
            }
        }
        Err(error) => println!("{error}"),
    }
}
