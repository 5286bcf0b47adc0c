//! The clinic as a program.

fn main() -> fw::Result<()> {
    outside::clinic().run()
}
