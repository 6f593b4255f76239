//! Memory maps. The one place of the project that needs `unsafe`.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Files from this size on are mapped; smaller ones are read.
///
/// A mapped file that another process truncates in place kills the reader with SIGBUS, and training scripts do export
/// over their last trace. So what a script overwrites in a loop is read into memory, which costs half a second for the
/// largest of them; only a file whose copy would weigh too much is mapped.
pub(crate) const MAP_FROM: u64 = 512 << 20;

/// Maps a whole file for reading.
#[allow(unsafe_code, reason = "memory maps are unsafe by nature; see MAP_FROM for when one is made")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is read only. Another process that writes to the file changes bytes under us: the reader takes any
    // bytes, checks every string as it copies it, and keeps no reference into the map.
    unsafe { Mmap::map(file) }
}
