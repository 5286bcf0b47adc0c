//! What the macros accept, refuse and write: see `ui`, `expansion`, `outside` and `tests`.
