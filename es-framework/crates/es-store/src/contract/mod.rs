//! The rules that every adapter keeps. An adapter's own test calls [`run`] with a way to make an empty
//! store; each rule gets a store of its own.

mod append_rules;
mod catalogue_rules;
mod damage;
mod observe_rules;
mod precondition_rules;
mod read_rules;
mod support;

use std::future::Future;

use super::EventStore;

pub use damage::{Damage, DamageableStorage, run_damage};

macro_rules! rules {
    ($empty:ident: $($module:ident :: { $($rule:ident),* $(,)? })*) => {
        $($(
            {
                let store = $empty().await;
                support::within_time(stringify!($rule), $module::$rule(&store)).await;
            }
        )*)*
    };
}

/// Runs every rule, each against a fresh store.
///
/// # Panics
/// The adapter breaks a rule.
pub async fn run<S, F, Fut>(mut empty: F)
where
    S: EventStore,
    F: FnMut() -> Fut,
    Fut: Future<Output = S>,
{
    rules! { empty:
        append_rules::{
            events_are_numbered_from_zero_without_a_gap,
            each_event_names_the_hash_of_the_one_before_it,
            what_is_read_is_what_was_written,
            an_append_of_several_subjects_is_all_or_nothing,
            concurrent_writers_share_one_chain,
        }
        precondition_rules::{
            a_pristine_subject_has_no_event_of_its_own,
            a_populated_subject_has_an_event_of_its_own,
            a_subject_on_an_event_id_has_not_moved,
            a_store_on_an_event_id_has_not_grown,
            a_pristine_subtree_has_no_event,
            a_populated_subtree_has_an_event,
            a_subtree_on_an_event_id_has_not_changed,
            all_preconditions_must_hold_together,
            of_many_who_want_the_same_pristine_subject_one_gets_it,
            of_many_who_want_the_same_pristine_subtree_one_gets_it,
            of_many_who_claim_one_subject_one_gets_it_with_all_its_events,
        }
        read_rules::{
            an_unknown_subject_reads_as_nothing,
            a_read_is_of_the_subject_alone_unless_recursive,
            a_recursive_read_keeps_to_whole_segments,
            both_orders_give_the_same_events,
            bounds_cut_the_range_at_either_end,
            a_read_starts_from_the_latest_event_of_a_type,
            two_starts_are_refused,
            a_long_read_is_complete,
            a_limit_leaves_the_first_events,
            a_read_can_be_of_some_types,
        }
        observe_rules::{
            an_observer_sees_what_is_stored_and_then_what_comes,
            an_observer_goes_on_exclusively_after_an_event,
            an_observer_of_one_subject_hears_of_no_other,
            an_observer_can_wait_for_an_event_to_start_from,
            observers_and_writers_at_once_miss_nothing,
        }
    }
    run_catalogue(empty).await;
}

/// The rules of what a store knows of its subjects and types.
async fn run_catalogue<S, F, Fut>(mut empty: F)
where
    S: EventStore,
    F: FnMut() -> Fut,
    Fut: Future<Output = S>,
{
    rules! { empty:
        catalogue_rules::{
            subjects_are_listed_sorted_and_with_their_parents,
            children_are_listed_once_in_pages_of_any_size,
            event_types_are_listed_sorted,
            a_refused_write_leaves_no_event_type,
            a_type_with_a_schema_and_no_event_is_a_phantom,
            events_follow_the_schema_of_their_type,
            a_schema_is_registered_once,
            a_schema_that_an_event_contradicts_is_refused,
            a_schema_and_writers_at_once_leave_no_event_that_contradicts_it,
        }
    }
}
