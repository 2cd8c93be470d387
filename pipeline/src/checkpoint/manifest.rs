//! The manifest: everything finished when a generation began, written once, in two equal copies.

use super::identity::{IDENTITY_BYTES_AT_MOST, Identity, limit};
use super::names;
use super::record::{BlockRecord, decode_records, encode_records};
use crate::Error;
use crate::bytes::{Cursor, HASH_BYTES, ParseError, seal, unseal};
use crate::finding::{Damage, Expected};
use crate::storage::{Storage, zeroed};

const MAGIC: [u8; 8] = *b"PLMANIFE";
const HEADER_BYTES: usize = 28;
/// Length of the longest list of records, in bytes: a kibibyte for each of the most blocks.
const RECORDS_BYTES_AT_MOST: usize = 1 << 30;

#[derive(Debug)]
pub(super) struct Manifest {
    /// A copy of `FORMAT`, from which `FORMAT` is restored.
    pub(super) identity: Identity,
    pub(super) records: Vec<BlockRecord>,
    /// Hash of the file; the journal's chain begins with it.
    pub(super) hash: u128,
}

/// Encodes a manifest; returns its bytes and its hash.
pub(super) fn encode(identity: &Identity, generation: u64, records: &[BlockRecord]) -> Result<(Vec<u8>, u128), Error> {
    let identity = identity.encode()?;
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&generation.to_le_bytes());
    bytes.extend_from_slice(&crate::bytes::length_u32(identity.len()).to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&identity);
    let start = bytes.len();
    encode_records(records, &mut bytes)?;
    let length = bytes.len() - start;
    limit("length of the manifest", length, RECORDS_BYTES_AT_MOST)?;
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&(length as u64).to_le_bytes());
    let hash = seal(&mut bytes);
    Ok((bytes, hash))
}

pub(super) fn read(storage: &dyn Storage, name: &str, generation: u64) -> Result<Manifest, Error> {
    let path = storage.path(name);
    let file = storage.open(name)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let (identity_bytes, whole) =
        parse_header(&header, generation, file.length()?).map_err(|error| error.into_error(&path, 0))?;
    let mut bytes = zeroed(whole)?;
    file.read_exact_at(&mut bytes, 0)?;
    let (body, hash) = unseal(&bytes).map_err(|error| error.into_error(&path, 0))?;
    let mut cursor = Cursor::new(body);
    let mut part = |length| cursor.take(length, "length of the manifest");
    let (_, identity) = part(HEADER_BYTES)
        .and_then(|header| Ok((header, part(identity_bytes)?)))
        .map_err(|error| error.into_error(&path, 0))?;
    let identity = Identity::decode(identity, &path, HEADER_BYTES as u64)?;
    let base = cursor.offset();
    let records = cursor
        .take(cursor.remaining(), "records")
        .and_then(decode_records)
        .map_err(|error| error.into_error(&path, base))?;
    Ok(Manifest { identity, records, hash })
}

/// Returns the length of the identity and of the whole file, bounded before anything is allocated.
fn parse_header(header: &[u8], generation: u64, file_bytes: u64) -> Result<(usize, u64), ParseError> {
    let mut cursor = Cursor::new(header);
    cursor.magic(MAGIC)?;
    ParseError::unless(Expected::Exactly(generation), 8, "generation", cursor.u64("generation")?)?;
    let identity_bytes = u64::from(cursor.u32("length of the identity")?);
    let records_bytes = cursor.u64("length of the records")?;
    let [identity_most, records_most] =
        [IDENTITY_BYTES_AT_MOST, RECORDS_BYTES_AT_MOST].map(|most| Expected::AtMost(most as u64));
    ParseError::unless(identity_most, 16, "length of the identity", identity_bytes)?;
    ParseError::unless(records_most, 20, "length of the records", records_bytes)?;
    let whole = HEADER_BYTES as u64 + identity_bytes + records_bytes + HASH_BYTES as u64;
    if whole != file_bytes {
        return Err(ParseError::new(0, Damage::Length { expected: Expected::Exactly(whole), found: file_bytes }));
    }
    Ok((identity_bytes as usize, whole))
}

/// Reads the manifest of a generation from the first intact copy.
pub(super) fn read_either(storage: &dyn Storage, generation: u64) -> Result<Manifest, Error> {
    let [first, second] = names::manifests(generation);
    read(storage, &first, generation).or_else(|error| {
        // A crash inside the switch can leave the first copy missing; then the second one decides.
        let second = read(storage, &second, generation);
        second.map_err(|other| if error.is_not_found() { other } else { error })
    })
}
