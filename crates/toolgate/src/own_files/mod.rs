//! Files of ours that are written whole and never changed, named by a hash: put in place in one step, read only when they are what we
//! wrote, swept when they are old or too many. Each could be made again, so no lock is taken and nothing is written through to the disk.

mod file;

mod modes;

mod sweep;

pub(crate) use file::{is_name, name_of, open, put, read};
pub(crate) use modes::narrow;
pub(crate) use sweep::{Bounds, OwnFile, are_too_many_new, is_due, surplus, take_stock};
