//! The journal: one record for each commit of a generation, in two equal copies.
//!
//! Records follow each other, each padded with zeros to [`PAGE_BYTES`], so that appending never
//! touches a sector with committed bytes. Each record carries the hash of the previous one, the
//! first that of the manifest.
//!
//! # Invariants
//! 1. A record is appended to copy a, which is synced, and only then to copy b, which is synced.
//! 2. Hence bytes in b at a place where a has no intact record are damage, not the trace of a
//!    crash.
//! 3. The copies are equal byte for byte, so each record is read from a copy in which it is intact.
//! 4. Records do not overlap, so a reader hashes little more than the length of a copy. A copy in
//!    which the headers of records claim more than twice that is damaged and not read any further.
//! 5. Each record begins at a multiple of [`PAGE_BYTES`] where the one before it ends, and has the
//!    next number and the hash of that one.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::identity::limit;
use super::names;
use super::record::{BlockRecord, decode_records, encode_records};
use crate::Error;
use crate::bytes::{Cursor, HASH_BYTES, ParseError, seal};
use crate::finding::{Damage, Expected, Finding, Severity};
use crate::storage::{Create, Storage, StorageFile, zeroed};

const MAGIC: [u8; 8] = *b"PLJOURNL";
const HEADER_BYTES: usize = 44;
/// Records begin at multiples of this many bytes.
pub(super) const PAGE_BYTES: u64 = 4096;
/// Length of the longest payload of a record, in bytes.
const PAYLOAD_BYTES_AT_MOST: usize = 1 << 28;
/// Length of the longest journal, in bytes: a week of commits, one every five seconds. The next
/// session begins a new one.
pub(super) const JOURNAL_BYTES_AT_MOST: u64 = 1 << 29;

/// Space for records is reserved in pieces of this many bytes.
const ROOM_BYTES: u64 = 1 << 14;

pub(super) struct Journal {
    copies: [Arc<dyn StorageFile>; 2],
    generation: u64,
    sequence: u64,
    previous: u128,
    end: u64,
    /// The end, shared with [`JournalRoom`].
    shared_end: Arc<AtomicU64>,
}

/// Reserves disk space for future records, so that they can be appended when the disk is full.
pub struct JournalRoom {
    copies: [Arc<dyn StorageFile>; 2],
    end: Arc<AtomicU64>,
    reserved: AtomicU64,
}

impl JournalRoom {
    /// Reserves space for records of `bytes` bytes, in one commit, or in two if another commit is
    /// under way.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such space.
    pub fn reserve(&self, bytes: u64) -> Result<(), Error> {
        let most = bytes + 2 * (PAGE_BYTES + (HEADER_BYTES + HASH_BYTES) as u64);
        let needed = self.end.load(Ordering::SeqCst) + most;
        if needed > self.reserved.load(Ordering::SeqCst) {
            let end = needed.next_multiple_of(ROOM_BYTES);
            self.copies.iter().try_for_each(|copy| copy.reserve(end))?;
            self.reserved.store(end, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Journal {
    /// Creates the empty journal of a generation; the caller syncs the folder.
    pub(super) fn create(storage: &dyn Storage, generation: u64, manifest_hash: u128) -> Result<Self, Error> {
        let [a, b] = names::journals(generation);
        Ok(Self {
            copies: [storage.create(&a, Create::Truncate)?, storage.create(&b, Create::Truncate)?],
            generation,
            sequence: 0,
            previous: manifest_hash,
            end: 0,
            shared_end: Arc::default(),
        })
    }

    /// Returns the object that reserves space for future records.
    pub(super) fn room(&self) -> JournalRoom {
        JournalRoom { copies: self.copies.clone(), end: self.shared_end.clone(), reserved: AtomicU64::new(0) }
    }

    /// Encodes the next record; returns its bytes and its hash.
    pub(super) fn encode(&self, records: &[BlockRecord]) -> Result<(Vec<u8>, u128), Error> {
        let (bytes, hash) = encode(self.generation, self.sequence, self.previous, records)?;
        let length = self.end + bytes.len() as u64;
        if length > JOURNAL_BYTES_AT_MOST {
            return Err(Error::JournalFull { length, limit: JOURNAL_BYTES_AT_MOST });
        }
        Ok((bytes, hash))
    }

    /// Appends a record encoded by [`Journal::encode`]: copy a, sync, copy b, sync.
    pub(super) fn append(&mut self, bytes: &[u8], hash: u128) -> Result<(), Error> {
        let next = parse_header(bytes, self.generation).map(|header| (header.sequence, header.previous));
        let is_next = next.is_ok_and(|next| next == (self.sequence, self.previous));
        let is_whole = [self.end, bytes.len() as u64].iter().all(|length| length.is_multiple_of(PAGE_BYTES));
        assert!(is_next && is_whole, "journal, invariant 5: this is not record {} at byte {}", self.sequence, self.end);
        for copy in &self.copies {
            copy.write_all_at(bytes, self.end)?;
            copy.sync()?;
        }
        self.end += bytes.len() as u64;
        self.shared_end.store(self.end, Ordering::SeqCst);
        self.sequence += 1;
        self.previous = hash;
        Ok(())
    }
}

fn encode(generation: u64, sequence: u64, previous: u128, records: &[BlockRecord]) -> Result<(Vec<u8>, u128), Error> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&generation.to_le_bytes());
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(&previous.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    encode_records(records, &mut bytes)?;
    let length = bytes.len() - HEADER_BYTES;
    limit("length of a commit", length, PAYLOAD_BYTES_AT_MOST)?;
    let length = crate::bytes::length_u32(length);
    bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let hash = seal(&mut bytes);
    bytes.resize(bytes.len().next_multiple_of(PAGE_BYTES as usize), 0);
    Ok((bytes, hash))
}

/// A record found in a file.
struct StoredRecord {
    sequence: u64,
    previous: u128,
    hash: u128,
    payload: Vec<u8>,
    /// Length with padding, in bytes.
    padded: u64,
}

struct Header {
    sequence: u64,
    previous: u128,
    payload_bytes: usize,
}

fn parse_header(bytes: &[u8], generation: u64) -> Result<Header, ParseError> {
    let mut cursor = Cursor::new(bytes);
    cursor.magic(MAGIC)?;
    ParseError::unless(Expected::Exactly(generation), 8, "generation", cursor.u64("generation")?)?;
    let sequence = cursor.u64("sequence")?;
    let previous = cursor.u128("previous hash")?;
    let payload_bytes = cursor.u32("length of a record")? as usize;
    let most = Expected::AtMost(PAYLOAD_BYTES_AT_MOST as u64);
    ParseError::unless(most, 40, "length of a record", payload_bytes as u64)?;
    Ok(Header { sequence, previous, payload_bytes })
}

/// One copy of a journal while it is read.
struct CopyFile {
    /// The file, or what is wrong with all of it; the other copy must then suffice.
    file: Result<Arc<dyn StorageFile>, Damage>,
    path: PathBuf,
    length: u64,
    /// Bytes of all records whose hashes were compared, whether intact or not.
    hashed: Cell<u64>,
}

impl CopyFile {
    fn open(storage: &dyn Storage, name: &str) -> Result<Self, Error> {
        let path = storage.path(name);
        let (file, length) = match storage.open(name) {
            Ok(file) => {
                let (found, expected) = (file.length()?, Expected::AtMost(JOURNAL_BYTES_AT_MOST));
                if expected.holds(found) { (Ok(file), found) } else { (Err(Damage::Length { expected, found }), 0) }
            }
            Err(error) if error.is_not_found() => (Err(Damage::MISSING), 0),
            Err(Error::Corrupt { damage, .. }) => (Err(damage), 0),
            Err(error) => return Err(error),
        };
        Ok(Self { file, path, length, hashed: Cell::new(0) })
    }

    /// Returns the error of a copy whose records overlap. Nothing more is read from it.
    fn given_up(&self) -> Option<Error> {
        let rule = "headers of records overlap, which no stop of a run leaves";
        (self.hashed.get() > 2 * self.length).then(|| Error::corrupt(&self.path, None, rule))
    }

    /// Reads the record at `offset`, if it is intact.
    fn record(&self, offset: u64, generation: u64) -> Result<StoredRecord, Error> {
        let Ok(file) = &self.file else {
            return Err(Error::early_end(&self.path, offset, PAGE_BYTES));
        };
        let early = || Error::early_end(&self.path, offset, PAGE_BYTES);
        let available = self.length.checked_sub(offset).ok_or_else(early)?;
        if available < PAGE_BYTES {
            return Err(early());
        }
        if let Some(error) = self.given_up() {
            return Err(error);
        }
        // Most records take one page, and so one read.
        let mut bytes = vec![0; PAGE_BYTES as usize];
        file.read_exact_at(&mut bytes, offset)?;
        let header = parse_header(&bytes, generation).map_err(|error| error.into_error(&self.path, offset))?;
        let used = HEADER_BYTES + header.payload_bytes + HASH_BYTES;
        let padded = (used as u64).next_multiple_of(PAGE_BYTES);
        if padded > available {
            return Err(Error::early_end(&self.path, offset, padded));
        }
        if padded > PAGE_BYTES {
            bytes = zeroed(padded)?;
            file.read_exact_at(&mut bytes, offset)?;
        }
        self.hashed.set(self.hashed.get() + padded);
        Self::whole(bytes, &header, used, padded).map_err(|error| error.into_error(&self.path, offset))
    }

    /// Checks the bytes of a record against its hash.
    fn whole(mut bytes: Vec<u8>, header: &Header, used: usize, padded: u64) -> Result<StoredRecord, ParseError> {
        let padding = bytes.split_off(used);
        if padding.iter().any(|byte| *byte != 0) {
            return Err(ParseError::new(used as u64, "the padding of the record is not zero"));
        }
        let (_, hash) = crate::bytes::unseal(&bytes)?;
        bytes.truncate(HEADER_BYTES + header.payload_bytes);
        // In place, because a payload can have hundreds of megabytes.
        bytes.drain(..HEADER_BYTES);
        Ok(StoredRecord { sequence: header.sequence, previous: header.previous, hash, payload: bytes, padded })
    }
}

/// A walk over the records of a generation, in order, each from a copy in which it is intact.
struct Walk {
    a: CopyFile,
    b: CopyFile,
    generation: u64,
    /// Offset, number and predecessor's hash of the next record.
    offset: u64,
    sequence: u64,
    previous: u128,
}

impl Walk {
    fn open(storage: &dyn Storage, generation: u64, manifest_hash: u128) -> Result<Self, Error> {
        let [a, b] = names::journals(generation);
        // b first: beside a running writer, a then has everything that was found in b.
        let b = CopyFile::open(storage, &b)?;
        let a = CopyFile::open(storage, &a)?;
        Ok(Self { a, b, generation, offset: 0, sequence: 0, previous: manifest_hash })
    }

    /// Returns what is wrong with all of a copy, for both copies.
    fn lost(&self) -> [Option<(&Path, Damage)>; 2] {
        [&self.a, &self.b].map(|copy| Some((&*copy.path, copy.file.as_ref().err()?.clone())))
    }

    /// Reads the next record of the chain from one copy, if it is intact there.
    fn next_in(&self, copy: &CopyFile) -> Result<StoredRecord, Error> {
        let found = copy.record(self.offset, self.generation)?;
        let expected = Expected::Exactly(self.sequence);
        ParseError::unless(expected, 16, "number of the record", found.sequence)
            .map_err(|error| error.into_error(&copy.path, self.offset))?;
        if found.previous != self.previous {
            let damage = Damage::hash("hash of the record before", self.previous, found.previous);
            return Err(ParseError::new(24, damage).into_error(&copy.path, self.offset));
        }
        Ok(found)
    }

    /// Decodes the blocks of a record, read from the copy at `path`, and steps to the next one.
    fn accept(&mut self, found: &StoredRecord, path: &Path) -> Result<Vec<BlockRecord>, Error> {
        let base = self.offset + HEADER_BYTES as u64;
        let records = decode_records(&found.payload).map_err(|error| error.into_error(path, base))?;
        self.offset += found.padded;
        assert!(self.offset.is_multiple_of(PAGE_BYTES), "journal, invariant 5: a record begins at {}", self.offset);
        self.sequence += 1;
        self.previous = found.hash;
        Ok(records)
    }

    /// Called where neither copy has an intact record: decides whether it is the end of the journal
    /// or damage.
    fn check_end(&self, [in_a, in_b]: [Error; 2]) -> Result<(), Error> {
        let Self { a, b, generation, offset, sequence, .. } = self;
        // An unreadable copy does not prove that this is the end.
        for error in [in_a, in_b] {
            if !matches!(error, Error::Corrupt { .. }) {
                return Err(error);
            }
        }
        if b.length > *offset {
            let rule = format!("neither copy has the next record, but {} bytes follow", b.length - offset);
            return Err(Error::corrupt(&b.path, *offset, rule));
        }
        let mut later = offset + PAGE_BYTES;
        while later < a.length {
            match a.record(later, *generation) {
                Ok(found) if found.sequence > *sequence => {
                    let rule = format!("record {} follows, but record {sequence} before it is lost", found.sequence);
                    return Err(Error::corrupt(&a.path, later, rule));
                }
                Ok(_) | Err(Error::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
            later += PAGE_BYTES;
        }
        // After the end of a copy that is not read any further, records may follow.
        match [a, b].into_iter().filter(|copy| copy.length > *offset).find_map(CopyFile::given_up) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Reads the committed records of a generation, in order.
///
/// A torn record at the end of copy a is a commit that did not happen. Any other place where
/// neither copy is intact is damage.
pub(super) fn read(storage: &dyn Storage, generation: u64, manifest_hash: u128) -> Result<Vec<BlockRecord>, Error> {
    let mut walk = Walk::open(storage, generation, manifest_hash)?;
    if let [Some((path, damage)), Some(_)] = walk.lost() {
        return Err(Error::corrupt(path, None, damage));
    }
    let mut records = Vec::new();
    loop {
        let (found, path) = match walk.next_in(&walk.a) {
            Ok(found) => (found, walk.a.path.clone()),
            Err(in_a) => match walk.next_in(&walk.b) {
                Ok(found) => (found, walk.b.path.clone()),
                Err(in_b) => {
                    walk.check_end([in_a, in_b])?;
                    return Ok(records);
                }
            },
        };
        records.extend(walk.accept(&found, &path)?);
    }
}

/// The damage of both copies, found on one walk over them.
struct Comparison<'f> {
    findings: &'f mut Vec<Finding>,
    /// Damage in b at the last record, which a stop between the two copies can leave, and whether b
    /// is too short for the record.
    last_of_b: Option<(Finding, bool)>,
    /// Whether a copy, a or b, is known to end early. That is reported once, not at each missing
    /// record.
    ended: [bool; 2],
}

impl Comparison<'_> {
    fn report(&mut self, copy: usize, finding: Finding, is_short: bool) {
        if !(is_short && std::mem::replace(&mut self.ended[copy], true)) {
            self.findings.push(finding);
        }
    }

    /// Reports damage in b at a record that turned out not to be the last.
    fn another_follows(&mut self) {
        if let Some((finding, is_short)) = self.last_of_b.take() {
            self.report(1, finding, is_short);
        }
    }

    /// Compares an intact record of a with the bytes in b.
    fn compare(&mut self, walk: &Walk, found: &StoredRecord, in_b: Result<StoredRecord, Error>) -> Result<(), Error> {
        match in_b {
            Err(error) if walk.b.file.is_ok() => {
                let is_short = walk.b.length < walk.offset + found.padded;
                self.last_of_b = Some((Finding::from_error(Severity::Copy, error)?, is_short));
            }
            Ok(other) if other.hash != found.hash => {
                let damage = Damage::hash("hash of the record, which differs from copy a,", found.hash, other.hash);
                self.findings.push(Finding::new(Severity::Copy, &walk.b.path, damage).at(walk.offset));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports damage where neither copy has a record; returns whether it is the end.
    fn is_end(&mut self, walk: &Walk, errors: [Error; 2]) -> Result<bool, Error> {
        if let Some((finding, is_short)) = self.last_of_b.take() {
            // A leftover only if no other record is short.
            let severity = if is_short && !self.ended[1] { Severity::Leftover } else { Severity::Copy };
            if severity == Severity::Leftover || !is_short {
                self.findings.push(Finding { severity, ..finding });
            }
        }
        if let Err(error) = walk.check_end(errors) {
            self.findings.push(Finding::from_error(Severity::Damage, error)?);
            return Ok(false);
        }
        if walk.a.length > walk.offset {
            let rule = format!("{} bytes of an unfinished commit", walk.a.length - walk.offset);
            self.findings.push(Finding::new(Severity::Leftover, &walk.a.path, rule).at(walk.offset));
        }
        Ok(true)
    }
}

/// Reads both copies to their ends and adds everything that is wrong with either; returns `None` if
/// [`read`] would refuse.
pub(super) fn examine(
    storage: &dyn Storage,
    generation: u64,
    manifest_hash: u128,
    findings: &mut Vec<Finding>,
) -> Result<Option<Vec<BlockRecord>>, Error> {
    let mut walk = Walk::open(storage, generation, manifest_hash)?;
    let lost: Vec<_> = walk.lost().into_iter().flatten().collect();
    let severity = if lost.len() == 2 { Severity::Damage } else { Severity::Copy };
    findings.extend(lost.into_iter().map(|(path, damage)| Finding::new(severity, path, damage)));
    if severity == Severity::Damage {
        return Ok(None);
    }
    let mut records = Vec::new();
    let mut copies = Comparison { findings, last_of_b: None, ended: [false; 2] };
    loop {
        let (found, path) = match (walk.next_in(&walk.a), walk.next_in(&walk.b)) {
            (Ok(found), in_b) => {
                copies.another_follows();
                copies.compare(&walk, &found, in_b)?;
                (found, walk.a.path.clone())
            }
            (Err(in_a), Ok(found)) => {
                copies.another_follows();
                if walk.a.file.is_ok() {
                    let is_short = walk.a.length < walk.offset + found.padded;
                    copies.report(0, Finding::from_error(Severity::Copy, in_a)?, is_short);
                }
                (found, walk.b.path.clone())
            }
            (Err(in_a), Err(in_b)) => return Ok(copies.is_end(&walk, [in_a, in_b])?.then_some(records)),
        };
        match walk.accept(&found, &path) {
            Ok(blocks) => records.extend(blocks),
            Err(error) => {
                copies.findings.push(Finding::from_error(Severity::Damage, error)?);
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
