//! The cost of sinks: the same purchases without a sink, and with three that receive each of them, as single events and in
//! batches.

use std::{fmt::Write as _, path::Path};

use super::{
    Settings,
    observed::{Variant, collector, compare},
};

pub(super) fn run(settings: &Settings, folder: &Path) {
    let receiver = collector();
    let file = |name: &str, more: &str| {
        let mut text = String::new();
        for number in 1..=3 {
            writeln!(
                text,
                "[sinks.receiver-{number}]\nwebhook = \"{receiver}\"\nallow_private = true\nstart = \"now\"\nsecrets = [\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]\n{more}"
            )
            .unwrap();
        }
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (single, batches) = (file("single", ""), file("batches", "batch = 200"));
    let variants: [Variant<'_>; 3] = [
        ("no sink", vec![]),
        ("3 sinks", vec![("SINKS_FILE", &single)]),
        ("3 sinks with batches", vec![("SINKS_FILE", &batches)]),
    ];
    compare(settings, folder, &variants);
}
