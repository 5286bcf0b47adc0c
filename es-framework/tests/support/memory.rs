//! The memory of a process, in MiB.

use std::fs;

/// Returns the largest memory since the start, or since it was forgotten.
pub(crate) fn peak(id: u32) -> u64 {
    read(id, "VmHWM:")
}

/// Returns the memory at this moment.
pub(crate) fn resident(id: u32) -> u64 {
    read(id, "VmRSS:")
}

/// Makes the memory at this moment the largest one.
pub(crate) fn forget_peak(id: u32) {
    fs::write(format!("/proc/{id}/clear_refs"), "5").unwrap();
}

fn read(id: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024
}
