//! Silent faults of the simulated disk: bits that rot, reads and writes that go astray.

use std::sync::Arc;

use super::contents::{Handle, Write};
use super::medium::Disk;
use super::{Fault, SECTOR_BYTES};

impl Disk {
    /// Takes the silent fault among `kinds` that strikes now, if there is one.
    pub(super) fn silent_fault(&mut self, kinds: &[Fault]) -> Option<Fault> {
        let steps = self.steps;
        let index = self.faults.iter().position(|(at, fault)| *at <= steps && kinds.contains(fault))?;
        Some(self.faults.swap_remove(index).1)
    }

    /// Reads into `buffer` from byte `start`; returns `None` past the end.
    pub(super) fn read(&mut self, file: usize, start: usize, buffer: &mut [u8]) -> Option<()> {
        let end = start.checked_add(buffer.len())?;
        buffer.copy_from_slice(self.files[file].cached.get(start..end)?);
        if self.faults.is_empty() || buffer.is_empty() {
            return Some(());
        }
        let fault = self.silent_fault(&[Fault::FlipRead, Fault::MisdirectRead, Fault::StaleRead]);
        // The part of one sector that is changed.
        let sector = (start + self.random.index(buffer.len())) / SECTOR_BYTES * SECTOR_BYTES;
        let part = sector.max(start)..(sector + SECTOR_BYTES).min(end);
        match fault {
            Some(Fault::FlipRead) => {
                let byte = self.random.index(buffer.len());
                buffer[byte] ^= 1 << self.random.index(8);
            }
            Some(Fault::MisdirectRead) => {
                let from = self.random.index(self.files.len());
                if let Some(other) = self.files[from].sector(&mut self.random) {
                    let inside = part.start - sector..part.end - sector;
                    let found = self.files[from].cached[other].get(inside).unwrap_or_default();
                    buffer[part.start - start..][..found.len()].copy_from_slice(found);
                }
            }
            Some(Fault::StaleRead) => {
                let old = self.files[file].safe.get(part.clone());
                let target = &mut buffer[part.start - start..part.end - start];
                match old.filter(|old| *old != &*target) {
                    Some(old) => target.copy_from_slice(old),
                    None => target.fill(0),
                }
            }
            _ => {}
        }
        Some(())
    }

    pub(super) fn lengthen(&mut self, file: usize, length: usize, by: Handle) {
        if self.files[file].cached.len() < length {
            self.push(file, Write::Length(length), by);
        }
    }

    /// Returns a random sector of a random file, usually not that of byte `start` of `file`.
    pub(super) fn anywhere(&mut self, file: usize, start: usize) -> (usize, usize) {
        let to = if self.random.coin() { file } else { self.random.index(self.files.len()) };
        let sector = self.files[to].sector(&mut self.random).map_or(0, |sector| sector.start);
        (to, sector + start % SECTOR_BYTES)
    }

    /// Flips one bit of a file, on the disk and in the cache.
    pub(super) fn rot(&mut self) {
        let file = self.random.index(self.files.len().max(1));
        let Some(contents) = self.files.get_mut(file).map(Arc::make_mut) else { return };
        if contents.cached.is_empty() {
            return;
        }
        let (byte, bit) = (self.random.index(contents.cached.len()), self.random.index(8));
        Arc::make_mut(&mut contents.cached)[byte] ^= 1 << bit;
        if let Some(byte) = Arc::make_mut(&mut contents.safe).get_mut(byte) {
            *byte ^= 1 << bit;
        }
    }
}
