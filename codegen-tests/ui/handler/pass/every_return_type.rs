//! A handler returns an event, several, perhaps one, or a refusal; the command may be taken apart.

#![deny(warnings)]

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
#[rejection(conflict)]
struct Refusal;

#[derive(Event)]
#[event(package = "com.example.library")]
struct HappenedEvent {}

macro_rules! commands {
    ($($name:ident)*) => {$(
        #[derive(Command)]
        #[command(subject = "/things/{id}")]
        struct $name {
            id: Uuid,
        }
    )*};
}

commands!(One Pair Eight Perhaps Many Refusing);

#[handler]
fn one(One { id: _ }: One) -> HappenedEvent {
    HappenedEvent {}
}

#[handler]
fn pair(_: Pair) -> (HappenedEvent, HappenedEvent) {
    (HappenedEvent {}, HappenedEvent {})
}

type Four = (HappenedEvent, HappenedEvent, HappenedEvent, HappenedEvent);

#[handler]
fn eight(
    _: Eight,
) -> (
    HappenedEvent,
    Vec<HappenedEvent>,
    Option<HappenedEvent>,
    Four,
    (),
    HappenedEvent,
    Option<Four>,
    HappenedEvent,
) {
    let one = || HappenedEvent {};
    let four = (one(), one(), one(), one());
    (one(), vec![one()], None, four, (), one(), None, one())
}

#[handler]
fn perhaps(mut command: Perhaps) -> Option<HappenedEvent> {
    command.id = Uuid::nil();
    (!command.id.is_nil()).then_some(HappenedEvent {})
}

mod elsewhere {
    use super::*;

    #[handler]
    pub(crate) fn many(_: super::Many) -> Vec<super::HappenedEvent> {
        vec![]
    }
}

#[handler]
#[cfg(unix)]
const fn refusing(_: Refusing) -> Result<HappenedEvent, Refusal> {
    Err(Refusal)
}

#[handler]
#[cfg(any())]
fn never_compiled(_: Refusing) -> HappenedEvent {}
