//! Deterministic simulation of the whole framework. The command pipeline, projections and reactions of
//! two instances run in one thread on a simulated store, network, disk and clock. All that happens
//! follows from one seed, so a failing seed repeats its run exactly.

mod badge_domain;
mod defect;
mod environment;
mod fault_injector;
mod fault_profile;
mod invariants;
mod news_receiver;
mod operation;
mod owner_domain;
mod printer_connection;
mod scenario_run;
mod seed_batch;
mod simulated_client;
mod simulated_instance;
mod simulated_key_store;
mod simulated_store;
mod simulated_subscription;
mod tests;
mod wallet_domain;
mod wallet_reactions;
