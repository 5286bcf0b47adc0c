//! Every correct use of a macro compiles without a warning and works. Each case in `ui/*/pass` is a module
//! of this one, so the cases need no build of their own.

#![allow(dead_code, reason = "most cases only have to compile")]
#![allow(
    clippy::all,
    clippy::restriction,
    reason = "the cases are written as applications may write them"
)]

macro_rules! cases {
    ($($name:ident: $path:literal,)*) => {
        $(#[path = $path] mod $name;)*

        /// The files that are modules of this binary.
        const FILES: &[&str] = &[$($path),*];
    };
}

cases! {
    command_framework_behind_a_facade: "../../ui/command/pass/framework_behind_a_facade.rs",
    command_names_that_shadow_std: "../../ui/command/pass/names_that_shadow_std.rs",
    event_from_several_commands: "../../ui/event/pass/from_several_commands.rs",
    event_personal_fields_that_came_later: "../../ui/event/pass/personal_fields_that_came_later.rs",
    event_pinned_package_and_fields_of_all_kinds: "../../ui/event/pass/pinned_package_and_fields_of_all_kinds.rs",
    evolve_every_form: "../../ui/evolve/pass/every_form.rs",
    handler_every_parameter: "../../ui/handler/pass/every_parameter.rs",
    handler_every_return_type: "../../ui/handler/pass/every_return_type.rs",
    item_computed_doc_comments: "../../ui/item/pass/computed_doc_comments.rs",
    item_conditional: "../../ui/item/pass/conditional.rs",
    item_in_a_function: "../../ui/item/pass/in_a_function.rs",
    item_itself: "../../ui/item/pass/itself.rs",
    item_macro_variables: "../../ui/item/pass/macro_variables.rs",
    item_names_of_the_language: "../../ui/item/pass/names_of_the_language.rs",
    item_shared_texts: "../../ui/item/pass/shared_texts.rs",
    publish_every_return_type: "../../ui/publish/pass/every_return_type.rs",
    query_aliases: "../../ui/query/pass/aliases.rs",
    reaction_names_that_shadow_std: "../../ui/reaction/pass/names_that_shadow_std.rs",
    reaction_schedules: "../../ui/reaction/pass/schedules.rs",
    reaction_states: "../../ui/reaction/pass/states.rs",
    read_model_columns_of_all_kinds: "../../ui/read_model/pass/columns_of_all_kinds.rs",
    rejection_sorts_shapes_and_odd_names: "../../ui/rejection/pass/sorts_shapes_and_odd_names.rs",
    settings_values_of_all_kinds: "../../ui/settings/pass/values_of_all_kinds.rs",
    upcast_every_return_type: "../../ui/upcast/pass/every_return_type.rs",
    value_every_shape: "../../ui/value/pass/every_shape.rs",
}

#[test]
fn every_case_is_a_module() {
    let mut files = Vec::new();
    for folder in std::fs::read_dir("ui").unwrap() {
        let folder = folder.unwrap().path();
        for case in std::fs::read_dir(folder.join("pass")).into_iter().flatten() {
            files.push(format!("../../{}", case.unwrap().path().display()));
        }
    }
    files.sort_unstable();
    assert_eq!(files, FILES);
}
