//! The file `FORMAT`: format version, run id and parameters.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Error;
use crate::bytes::{Cursor, HASH_BYTES, ParseError, first_repeated, length_u32, seal, unseal};
use crate::finding::Expected;
use crate::ids::RunId;

/// Version of the files `FORMAT`, manifest and journal.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"PLFORMAT";
/// Length of the longest `FORMAT` file, in bytes.
pub(super) const IDENTITY_BYTES_AT_MOST: usize = 1 << 20;
const HEADER_BYTES: usize = 36;
const NAME_BYTES_AT_MOST: usize = 255;
const PARAMETERS_AT_MOST: usize = u16::MAX as usize;

/// Named parameters of a run. A run can be resumed only with the same ones, except for
/// [`Parameters::MEMORY`]. Their order has no meaning. Starting a run in which a name occurs twice
/// panics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(pub Vec<(String, String)>);

impl Parameters {
    /// The memory budget in bytes that a run was started with. No result depends on it, so a resume
    /// can use another one.
    pub const MEMORY: &'static str = "memory";

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        let pair = self.0.iter().find(|pair| pair.0 == name);
        pair.map(|(_, value)| value.as_str())
    }

    /// Returns the first parameter, by name, that differs: name, value here, wanted value.
    fn difference(&self, wanted: &Self) -> Option<(String, String, String)> {
        let map = |of: &Self| of.0.iter().cloned().collect::<BTreeMap<String, String>>();
        let (here, there) = (map(self), map(wanted));
        let names = here.keys().chain(there.keys()).filter(|name| *name != Self::MEMORY);
        let name = names.filter(|name| here.get(*name) != there.get(*name)).min()?;
        let value = |of: &BTreeMap<String, String>| match of.get(name) {
            Some(value) => value.clone(),
            None => "(absent)".to_string(),
        };
        Some((name.clone(), value(&here), value(&there)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) run_id: RunId,
    pub(super) parameters: Parameters,
}

impl Identity {
    pub(super) fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend_from_slice(&self.run_id.0.to_le_bytes());
        let pairs = &self.parameters.0;
        limit("number of parameters", pairs.len(), PARAMETERS_AT_MOST)?;
        let twice = first_repeated(pairs.iter().map(|pair| &pair.0));
        assert!(twice.is_none(), "parameter {} is given twice", twice.map_or("", |name| name));
        bytes.extend_from_slice(&length_u32(pairs.len()).to_le_bytes());
        debug_assert_eq!(bytes.len(), HEADER_BYTES);
        for (name, value) in pairs {
            limit("length of a parameter name", name.len(), NAME_BYTES_AT_MOST)?;
            limit("length of a parameter", value.len(), IDENTITY_BYTES_AT_MOST)?;
            bytes.extend_from_slice(&length_u32(name.len()).to_le_bytes()[..2]);
            bytes.extend_from_slice(&length_u32(value.len()).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(value.as_bytes());
        }
        let whole = bytes.len() + HASH_BYTES;
        limit("length of all parameters", whole, IDENTITY_BYTES_AT_MOST)?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Decodes the bytes of `FORMAT`; `path` and `base` locate them for errors.
    pub(super) fn decode(bytes: &[u8], path: &Path, base: u64) -> Result<Self, Error> {
        let found = Self::version(bytes).map_err(|error| error.into_error(path, base))?;
        if found != FORMAT_VERSION {
            return Err(Error::Version { path: path.into(), found, supported: FORMAT_VERSION });
        }
        Self::parse(bytes).map_err(|error| error.into_error(path, base))
    }

    /// Returns the version. Its place and the hash at the end are the same in every version.
    fn version(bytes: &[u8]) -> Result<u32, ParseError> {
        let (body, _) = unseal(bytes)?;
        let mut cursor = Cursor::new(body);
        cursor.magic(MAGIC)?;
        cursor.u32("version")
    }

    fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let (body, _) = unseal(bytes)?;
        let mut cursor = Cursor::new(body);
        cursor.magic(MAGIC)?;
        cursor.u32("version")?;
        let features = cursor.u32("feature bits")?;
        cursor.require("feature bits", Expected::Exactly(0), features.into())?;
        let run_id = RunId(cursor.u128("run id")?);
        let count = cursor.count(6, "number of parameters")?;
        cursor.require("number of parameters", Expected::AtMost(PARAMETERS_AT_MOST as u64), count as u64)?;
        let mut pairs: Vec<(String, String)> = Vec::with_capacity(count);
        for _ in 0..count {
            let name_bytes = usize::from(cursor.u16("length of a parameter name")?);
            let value_bytes = cursor.u32("length of a parameter")? as usize;
            let name = cursor.text(name_bytes, "parameter name")?.to_string();
            let value = cursor.text(value_bytes, "parameter")?.to_string();
            pairs.push((name, value));
        }
        cursor.end("parameters")?;
        if let Some(name) = first_repeated(pairs.iter().map(|pair| &pair.0)) {
            return Err(cursor.error(format!("the parameter {name} occurs twice")));
        }
        Ok(Self { run_id, parameters: Parameters(pairs) })
    }

    pub(super) fn agree(&self, wanted: &Parameters, path: &Path) -> Result<(), Error> {
        match self.parameters.difference(wanted) {
            None => Ok(()),
            Some((name, found, wanted)) => Err(Error::Parameters { path: path.into(), name, found, wanted }),
        }
    }
}

pub(super) fn limit(what: &'static str, value: usize, limit: usize) -> Result<(), Error> {
    if value <= limit {
        return Ok(());
    }
    Err(Error::Limit { what, value: value as u64, limit: limit as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn identities_come_back(
            run_id in any::<u128>().prop_map(RunId),
            pairs in proptest::collection::btree_map(".{0,20}", ".{0,50}", 0..8),
        ) {
            let parameters = Parameters(pairs.into_iter().collect());
            let identity = Identity { run_id, parameters };
            let bytes = identity.encode().unwrap();
            prop_assert_eq!(Identity::decode(&bytes, Path::new("x"), 0).unwrap(), identity);
        }

        /// With a correct hash, so that the test reaches the fields.
        #[test]
        fn any_sealed_bytes_do_no_harm(
            rest in proptest::collection::vec(any::<u8>(), 0..100),
            known in 0..3_usize,
        ) {
            let mut bytes = [&MAGIC[..], &[1, 0, 0, 0], &[0; 20]][..=known].concat();
            bytes.extend_from_slice(&rest);
            seal(&mut bytes);
            let _ = Identity::decode(&bytes, Path::new("x"), 0);
        }
    }

    #[test]
    #[should_panic(expected = "given twice")]
    fn doubled_parameters_are_not_written() {
        let pair = ("a".to_string(), "1".to_string());
        let parameters = Parameters(vec![pair.clone(), pair]);
        let _ = Identity { run_id: RunId(1), parameters }.encode();
    }
}
