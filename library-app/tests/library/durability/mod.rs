//! Nothing that was acknowledged is lost: crashes, kills, a full disk, backups.

mod back_up;
mod crash;
mod full_disk;
