//! Everything may be declared by a macro of the application.

#![deny(warnings)]

use es_framework::prelude::*;

macro_rules! shelf {
    (
        $command:ident, $event:ident, $state:ident, $settings:ident,
        $subject:literal, $key:ident: $key_type:ty, $field:ident: $type:ty, $default:literal
    ) => {
        #[derive(Event)]
        #[event(package = "com.example.library", read_model = "shelves")]
        struct $event {
            $key: $key_type,
            #[serde(rename = "content", default)]
            $field: $type,
        }

        #[derive(Command)]
        #[command(subject = $subject, condition = none)]
        struct $command {
            $key: $key_type,
            #[validate(text(max = 40))]
            $field: $type,
        }

        #[derive(State)]
        struct $state {
            $field: $type,
        }

        #[evolve]
        impl $state {
            fn filled(event: $event) -> Option<$state> {
                Some(Self {
                    $field: event.$field,
                })
            }
        }

        #[derive(Settings)]
        struct $settings {
            /// How much a shelf holds.
            #[setting(default = $default)]
            $field: $key_type,
            /// What it is called.
            name: $type,
        }

        #[handler]
        fn fill(
            command: $command,
            #[subject($subject)] state: Option<&$state>,
            settings: &$settings,
        ) -> $event {
            let $command { $key, $field } = command;
            let _ = (settings.$field, &settings.name);
            let $field = state.map_or($field, |state| state.$field.clone());
            $event { $key, $field }
        }
    };
}

shelf!(
    FillShelfCommand, ShelfFilledEvent, Shelf, Furniture,
    "/shelves/{number}", number: u32, content: Option<String>, 30
);

fn main() {
    assert_eq!(<FillShelfCommand as Command>::SUBJECT, "/shelves/{number}");
}
