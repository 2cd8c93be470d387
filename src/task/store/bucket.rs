//! A store in a bucket of an object store: S3, or a service that speaks its protocol.
//!
//! # Commit
//! ```text
//! PUT name, If-None-Match: *      one creation wins, and the file is there, as a whole
//! ```
//! [`init`](crate::init) creates the first file twice, and so refuses a service that ignores the
//! condition.
//!
//! # Invariants
//! 1. Whether a file exists is decided by a request for its name, never by a listing.
//! 2. A request that fails without a verdict is repeated, at most [`ATTEMPTS`] times, with longer
//!    and longer pauses. Below that, the client repeats what the service calls temporary
//!    ([`RETRIES`], [`RETRY_TIME`]).
//! 3. A creation whose answer was lost may have succeeded. Repeated, it finds the name taken:
//!    [`Store::create`] then returns false for its own file, with the same bytes.
//!
//! # Cost
//! One request each for reading, beginning and removing, one or two for creating, and one for each
//! thousand names of a listing. A file is in memory as a whole, in addition to the caller's copy.
//!
//! # Not here
//! Uploads in parts: one request takes at most [`PUT_BYTES_MAX`] bytes, the file of a block of 2^38
//! positions and more. So there are no temporary files.

use super::{Begin, Store, Temporary, is_ours};
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as ObjectPath;
use object_store::{
    BackoffConfig, ClientConfigKey, Error as ObjectError, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload, Result as ObjectResult, RetryConfig,
};
use pipeline::parallel::check_threads;
use pipeline::{Damage, Error, Expected};
use reqwest::Url;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How often a request is sent that fails without a verdict.
pub const ATTEMPTS: u32 = 3;
/// How often the client repeats one request that the service refuses temporarily.
const RETRIES: usize = 8;
/// Time after which the client stops repeating a request.
const RETRY_TIME: Duration = Duration::from_secs(45);
/// Pause before the second attempt; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// Time limit of a request with all its bytes, unless the environment sets another one.
const REQUEST_TIME: &str = "300 s";
/// The most bytes of one request to S3.
pub const PUT_BYTES_MAX: u64 = 5 << 30;
/// What [`Error::Limit`] says about a longer file.
const PUT_LIMIT: &str = "length of an object in bytes";
/// The code of S3 for a missing bucket.
const NO_SUCH_BUCKET: &str = "NoSuchBucket";
/// Codes of S3 for credentials that are missing, wrong, or lack a right; the status of some does
/// not show that.
const FORBIDDEN: [&str; 4] = ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken"];
/// Codes of S3 for errors that the user can correct, and how; some have the status "forbidden".
const MENDED: [(&str, &str); 2] = [
    ("RequestTimeTooSkewed", "Set the clock of this machine."),
    ("ExpiredToken", "Renew the credentials, and repeat the command."),
];
/// Codes of S3, and words of the client, for another region or a service that lacks what a store
/// needs. Repetition does not help.
const UNSUITABLE: [&str; 8] = [
    "<Code>PermanentRedirect<",
    "<Code>AuthorizationHeaderMalformed<",
    "<Code>IllegalLocationConstraintException<",
    "<Code>InvalidBucketName<",
    "<Code>NotImplemented<",
    "redirect without LOCATION",
    "non-partial response when range requested",
    "Content-Range header not present",
];
/// The most characters of a service's answer in a message.
const MESSAGE_CHARS: usize = 500;

/// A part of a bucket: all objects under a prefix.
pub struct BucketStore {
    objects: Arc<dyn ObjectStore>,
    /// The name of the store, for messages.
    place: PathBuf,
    prefix: ObjectPath,
    pause: Duration,
    runtime: Runtime,
}

impl BucketStore {
    /// Returns the store under a prefix of these objects; `place` is its full name, for messages.
    ///
    /// # Errors
    /// [`Error::Io`] if the prefix has an empty part or a part that is not allowed in names, or if
    /// the system refuses a worker.
    pub fn new(objects: Arc<dyn ObjectStore>, place: &str, prefix: &str) -> Result<BucketStore, Error> {
        let invalid = |error: object_store::path::Error| io::Error::new(ErrorKind::InvalidInput, message(&error));
        let prefix = ObjectPath::parse(prefix).map_err(|error| Error::io("use", place, invalid(error)))?;
        // The worker waits for the service while the callers compute. The runtime panics if a
        // thread is refused: its own, and one that looks up names.
        check_threads(2)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Error::io("open", place, error))?;
        Ok(BucketStore { objects, place: place.into(), prefix, pause: PAUSE, runtime })
    }

    /// Opens the store in a bucket of S3. Service, region and credentials come from the usual
    /// variables `AWS_*`.
    ///
    /// # Errors
    /// [`Error::Io`] of the kind `NotFound` if there is no such bucket, `PermissionDenied` without
    /// the right to read and list it, `InvalidInput` for an invalid variable or name, another
    /// region, or a service without ranges; any other kind if the service does not answer.
    pub fn s3(bucket: &str, prefix: &str) -> Result<BucketStore, Error> {
        let place = format!("s3://{bucket}/{prefix}");
        let place = place.trim_end_matches('/');
        let is_part = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        if bucket.is_empty() || !bucket.chars().all(is_part) {
            let invalid = io::Error::new(ErrorKind::InvalidInput, "expected s3://BUCKET/PREFIX");
            return Err(Error::io("use", place, invalid));
        }
        // Fails if the process already has a provider, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let invalid = |said: String| Error::io("use", place, io::Error::new(ErrorKind::InvalidInput, said));
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIME, backoff: BackoffConfig::default() };
        let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        let mut builder = AmazonS3Builder::new().with_retry(retry).with_config(timeout, REQUEST_TIME);
        for (name, value) in std::env::vars_os().filter(|(_, value)| !value.is_empty()) {
            let Some(name) = name.to_str().filter(|name| name.starts_with("AWS_")) else { continue };
            let Ok(key) = name.to_ascii_lowercase().parse() else { continue };
            let value = value.to_str().filter(|value| is_valid(&key, value));
            builder = builder.with_config(key, value.ok_or_else(|| invalid(format!("{name} is invalid")))?);
        }
        let objects = builder.with_bucket_name(bucket).build().map_err(|error| invalid(message(&error)))?;
        let store = BucketStore::new(Arc::new(objects), place, prefix)?;
        store.begin(super::DEFINITION, 1)?;
        Ok(store)
    }

    /// The same store with another first pause before a request is repeated.
    pub fn with_pause(self, pause: Duration) -> BucketStore {
        BucketStore { pause, ..self }
    }

    /// Returns the name of an object, or of a folder.
    fn location(&self, name: &str) -> ObjectPath {
        self.prefix.parts().chain(ObjectPath::from(name).parts()).collect()
    }

    /// Returns the error of a request.
    fn failed(&self, operation: &'static str, name: &str, error: &ObjectError) -> Error {
        let kind = match error {
            _ if is_absent_bucket(error) => ErrorKind::NotFound,
            _ if is_forbidden(error) => ErrorKind::PermissionDenied,
            _ if is_unsuitable(error) => ErrorKind::InvalidInput,
            ObjectError::NotFound { .. } => ErrorKind::NotFound,
            ObjectError::NotSupported { .. } | ObjectError::NotImplemented { .. } => ErrorKind::Unsupported,
            ObjectError::InvalidPath { .. } | ObjectError::UnknownConfigurationKey { .. } => ErrorKind::InvalidInput,
            _ => ErrorKind::Other,
        };
        Error::io(operation, self.path(name), io::Error::new(kind, message(error)))
    }

    /// Sends a request repeatedly until there is a verdict, with a limit.
    fn request<T, F>(&self, operation: &'static str, name: &str, send: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = ObjectResult<T>>,
    {
        let answer = self.runtime.block_on(async {
            let mut pause = self.pause;
            for _ in 1..ATTEMPTS {
                match send().await {
                    Err(error) if is_undecided(&error) => tokio::time::sleep(pause).await,
                    decided => return decided,
                }
                pause *= 2;
            }
            send().await
        });
        answer.map_err(|error| self.failed(operation, name, &error))
    }
}

/// Returns whether the client takes a variable's value: it panics where a request cannot carry one.
fn is_valid(key: &AmazonS3ConfigKey, value: &str) -> bool {
    use AmazonS3ConfigKey::{ContainerCredentialsFullUri, Endpoint, MetadataEndpoint, S3Endpoint, StsEndpoint};
    let is_address = |value| Url::parse(value).is_ok_and(|url| url.has_host() && url.scheme().starts_with("http"));
    match key {
        ContainerCredentialsFullUri | Endpoint | MetadataEndpoint | S3Endpoint | StsEndpoint => is_address(value),
        _ => value.bytes().all(|byte| matches!(byte, b' '..=b'~')),
    }
}

/// Returns whether repeating the request can have another result.
fn is_undecided(error: &ObjectError) -> bool {
    // For a name that is taken, see the creation.
    let is_open = matches!(
        error,
        ObjectError::Generic { .. } | ObjectError::JoinError { .. } | ObjectError::AlreadyExists { .. }
    );
    is_open && !is_forbidden(error) && !is_absent_bucket(error) && !is_unsuitable(error) && help(error).is_none()
}

/// Returns whether the service is not the one that the variables describe, or lacks what is needed.
fn is_unsuitable(error: &ObjectError) -> bool {
    let texts = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    texts.map(ToString::to_string).any(|text| UNSUITABLE.iter().any(|known| text.contains(known)))
}

/// Returns whether the credentials lack a right, or are missing.
fn is_forbidden(error: &ObjectError) -> bool {
    let text = error.to_string();
    match element(&text, "<Code>", "</Code>") {
        _ if help(error).is_some() => false,
        Some(code) if FORBIDDEN.contains(&code) => true,
        _ => matches!(error, ObjectError::PermissionDenied { .. } | ObjectError::Unauthenticated { .. }),
    }
}

/// Returns what the user can do about an error.
fn help(error: &dyn std::error::Error) -> Option<&'static str> {
    let text = error.to_string();
    let code = element(&text, "<Code>", "</Code>")?;
    MENDED.iter().find(|(mended, _)| *mended == code).map(|(_, help)| *help)
}

fn is_absent_bucket(error: &ObjectError) -> bool {
    element(&error.to_string(), "<Code>", "</Code>") == Some(NO_SUCH_BUCKET)
}

/// Returns an element of the page with which a service reports an error: its code says more than
/// the status.
fn element<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(begin)?.1.split_once(end)?.0)
}

/// Returns the message of an error on one line; for a page, its code and message.
fn message(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    if let Some(code) = element(&text, "<Code>", "</Code>") {
        let said = element(&text, "<Message>", "</Message>").unwrap_or_default();
        return format!("{code}: {said} {}", help(error).unwrap_or_default()).trim_end().to_owned();
    }
    // The last cause is often the most helpful, and those above it do not mention it.
    let cause = std::iter::successors(error.source(), |error| error.source()).last().map(ToString::to_string);
    let cause = cause.filter(|cause| !text.contains(cause)).map_or_else(String::new, |cause| format!(": {cause}"));
    let line = (text + &cause).split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_CHARS).collect()
}

/// Turns the error for a missing object into `None`.
fn if_there<T>(answer: ObjectResult<T>) -> ObjectResult<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error @ ObjectError::NotFound { .. }) if !is_absent_bucket(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Store for BucketStore {
    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.place.clone() } else { self.place.join(name) }
    }

    fn prepare(&self) -> Result<(), Error> {
        let depth = self.prefix.parts().count();
        let first = |location: &ObjectPath| Some(location.parts().nth(depth)?.as_ref().to_owned());
        let foreign = self.request("list", "", || async {
            let mut found = self.objects.list(Some(&self.prefix));
            while let Some(object) = found.try_next().await? {
                if let Some(foreign) = first(&object.location).filter(|name| !is_ours(name)) {
                    return Ok(Some(foreign));
                }
            }
            Ok(None)
        });
        match foreign? {
            Some(name) => Err(Error::NotEmpty { path: self.path(""), name }),
            None => Ok(()),
        }
    }

    fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
        let location = self.location(name);
        let read = self.request("read", name, || async {
            let Some(found) = if_there(self.objects.get(&location).await)? else { return Ok(None) };
            let length = found.meta.size;
            if length > most_bytes {
                return Ok(Some(Err(length)));
            }
            Ok(Some(Ok(found.bytes().await?)))
        });
        match read? {
            Some(Ok(bytes)) => Ok(Some(bytes.into())),
            Some(Err(found)) => {
                let expected = Expected::AtMost(most_bytes);
                Err(Error::corrupt(self.path(name), None, Damage::Length { expected, found }))
            }
            None => Ok(None),
        }
    }

    fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, Error> {
        let location = self.location(name);
        self.request("read", name, || async {
            let options = GetOptions { range: Some(GetRange::Bounded(0..bytes as u64)), ..GetOptions::default() };
            match if_there(self.objects.get_opts(&location, options).await) {
                Ok(None) => Ok(None),
                Ok(Some(found)) => {
                    let length = found.meta.size;
                    Ok(Some((found.bytes().await?.into(), length)))
                }
                // An empty object has no first bytes.
                Err(error) => match self.objects.head(&location).await {
                    Ok(found) if found.size == 0 => Ok(Some((Vec::new(), 0))),
                    _ => Err(error),
                },
            }
        })
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Error> {
        let (length, limit) = (bytes.len() as u64, PUT_BYTES_MAX);
        if length > limit {
            return Err(Error::Limit { what: PUT_LIMIT, value: length, limit });
        }
        let (location, payload) = (self.location(name), PutPayload::from(bytes.to_vec()));
        self.request("create", name, || async {
            let options = PutOptions::from(PutMode::Create);
            match self.objects.put_opts(&location, payload.clone(), options).await {
                Ok(_) => Ok(true),
                // Also the answer while another creation is under way, which can fail.
                Err(taken @ ObjectError::AlreadyExists { .. }) => {
                    if_there(self.objects.head(&location).await)?.map_or(Err(taken), |_| Ok(false))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, Error> {
        let location = self.location(folder);
        let listed = self.request("list", folder, || self.objects.list_with_delimiter(Some(&location)))?;
        let named = listed.objects.into_iter();
        Ok(named.filter_map(|object| Some((object.location.filename()?.to_owned(), object.size))).collect())
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let location = self.location(name);
        self.request("remove", name, || async { if_there(self.objects.delete(&location).await).map(|_| ()) })
    }

    /// The service answers only when an object is safe.
    fn sync(&self, _folder: &str) -> Result<(), Error> {
        Ok(())
    }

    fn temporaries(&self) -> Result<Vec<Temporary>, Error> {
        Ok(Vec::new())
    }
}
