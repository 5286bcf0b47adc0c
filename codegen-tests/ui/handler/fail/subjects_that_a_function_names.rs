//! Functions that name no subjects: one that does not exist, one that returns a single value, and one whose values are
//! no text.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct HappenedEvent {}

#[derive(State)]
struct Reader {}

#[evolve]
impl Reader {
    fn happened(_: &HappenedEvent) -> Self {
        Self {}
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct LendCommand {
    id: Uuid,
}

impl LendCommand {
    fn first_reader(&self) -> Uuid {
        self.id
    }
}

#[handler]
fn lend(
    _: LendCommand,
    #[subject("/readers/{reader}", reader in LendCommand::readers)] _a: Vec<Option<&Reader>>,
    #[subject("/readers/{reader}", reader in LendCommand::first_reader)] _b: Vec<Option<&Reader>>,
    #[subject("/readers/{reader}", reader in pairs)] _c: Vec<Option<&Reader>>,
    #[subject("/clubs/{club}/{reader}", reader in texts)] _d: Vec<Option<&Reader>>,
    #[subject("/clocks/{reader}", reader in texts)] _e: Vec<Option<&Clock>>,
) -> HappenedEvent {
    HappenedEvent {}
}

fn pairs(_: &LendCommand) -> Vec<(u32, u32)> {
    vec![]
}

fn texts(_: &LendCommand) -> Vec<String> {
    vec![]
}

fn main() {}
