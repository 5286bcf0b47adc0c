//! An event begins a state, changes it, replaces it, ends it, or follows on it if there is one; it is
//! taken by reference or by value; what is no such function stands in another block.

#![deny(warnings)]

use es_framework::prelude::*;

macro_rules! events {
    ($($name:ident)*) => {$(
        #[derive(Event)]
        #[event(package = "com.example.library")]
        struct $name {
            id: Uuid,
        }
    )*};
}

events!(PurchasedEvent FoundEvent LentEvent ReturnedEvent SoldEvent CountedEvent);

/// A copy in its state.
#[derive(State)]
enum Copy {
    Available { id: Uuid },
    Lent(Uuid),
}

#[evolve]
impl Copy {
    fn purchased(event: &PurchasedEvent) -> Self {
        Self::Available { id: event.id }
    }

    fn found(event: FoundEvent) -> Option<Self> {
        (!event.id.is_nil()).then_some(Self::Available { id: event.id })
    }

    fn lent(&mut self, event: &LentEvent) {
        *self = Self::Lent(event.id);
    }

    fn returned(self, ReturnedEvent { id }: ReturnedEvent) -> Copy {
        match self {
            Self::Available { .. } | Self::Lent(_) => Self::Available { id },
        }
    }

    fn sold(self, event: &SoldEvent) -> std::option::Option<Copy> {
        (self.id() != event.id).then_some(self)
    }

    fn counted(before: Option<Self>, event: &CountedEvent) -> Self {
        before.unwrap_or(Self::Available { id: event.id })
    }
}

impl Copy {
    const fn id(&self) -> Uuid {
        match self {
            Self::Available { id } | Self::Lent(id) => *id,
        }
    }
}
