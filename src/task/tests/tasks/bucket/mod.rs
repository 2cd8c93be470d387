//! Stores in buckets: the objects are in memory, and some of them fail, answer late or not at all,
//! or list old names. A solve in tasks leaves the bytes of a solve there too.

mod service;
mod stops;

use crate::common::{assert_same_files, database_files, scratch};
use crate::contract::keeps_its_promises;
use crate::whole::{seal, solved, store_in, work};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, Error as ObjectError, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as ObjectResult,
};
use pipeline::{BlockId, Error as RunError};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trinim::database::{Database, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim::maintenance::Request;
use trinim::random::Random;
use trinim::verify::{self, Depth};
use trinim_task::store::ATTEMPTS;
use trinim_task::{self as task, BucketStore, Store, Sweeper, batches, committed, copy, finish, init, sweep};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Trouble {
    #[default]
    Fails,
    Loses,
    Conflicts,
}

/// The faults of the objects.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    /// One of about this many requests fails and does nothing; 0 for none.
    fails: u64,
    /// One of about this many creations succeeds, and its answer is lost; 0 for none.
    loses: u64,
    /// One of about this many creations is answered that another one is under way; 0 for none.
    conflicts: u64,
    /// Half of the names, different ones each time, are missing in a listing, and half of the
    /// removed ones are still in it.
    is_stale: bool,
    /// The process ends at this request; 0 for never.
    ends: u64,
    /// That request still has its effect.
    ends_late: bool,
    /// Number of the request at which, and at the next one, a fault occurs; 0 for never.
    troubled: u64,
    /// The fault, as above: the request fails, its answer is lost, or another is under way.
    trouble: Trouble,
    /// The condition of a creation is ignored.
    overwrites: bool,
    /// A caller has no rights.
    denies: bool,
}

/// Objects in memory with faults.
#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    faults: Faults,
    calls: AtomicU64,
    requests: AtomicU64,
    /// Every object that a listing ever had.
    listed: Mutex<BTreeMap<ObjectPath, ObjectMeta>>,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty objects")
    }
}

fn failure(what: &str) -> ObjectError {
    ObjectError::Generic { store: "faulty", source: what.into() }
}

impl Faulty {
    fn new(faults: Faults) -> Arc<Faulty> {
        Faulty::on(InMemory::new(), faults)
    }

    fn on(inner: InMemory, faults: Faults) -> Arc<Faulty> {
        let (calls, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Faulty { inner, faults, calls, requests, listed: Mutex::default() })
    }

    /// Whether about one in `every` calls goes wrong, and this one does.
    fn strikes(&self, every: u64) -> bool {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        every > 0 && Random::new(call).below(every) == 0
    }

    fn request(&self, location: &ObjectPath) -> ObjectResult<()> {
        if self.faults.denies {
            return Err(ObjectError::PermissionDenied { path: location.to_string(), source: "403 Forbidden".into() });
        }
        let request = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let has_ended = self.faults.ends > 0 && request >= self.faults.ends + u64::from(self.faults.ends_late);
        let fails = has_ended || self.strikes(self.faults.fails) || self.has(Trouble::Fails);
        if fails { Err(failure("503 Slow Down")) } else { Ok(()) }
    }

    /// Whether this trouble occurs in the current request.
    fn has(&self, trouble: Trouble) -> bool {
        let troubled = self.faults.troubled..self.faults.troubled + 2;
        self.faults.troubled > 0
            && self.faults.trouble == trouble
            && troubled.contains(&self.requests.load(Ordering::Relaxed))
    }

    /// Whether the process does not learn the effect of its request.
    fn is_last(&self) -> bool {
        self.faults.ends > 0 && self.requests.load(Ordering::Relaxed) >= self.faults.ends
    }

    /// Whether a name has arrived in this listing.
    fn has_arrived(&self, object: &ObjectMeta) -> bool {
        let name = object.location.as_ref().bytes().map(u64::from).sum::<u64>();
        Random::new(name + self.calls.load(Ordering::Relaxed)).below(2) == 0
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, to: &ObjectPath, payload: PutPayload, options: PutOptions) -> ObjectResult<PutResult> {
        self.request(to)?;
        assert_eq!(options.mode, PutMode::Create, "nothing is ever overwritten");
        if self.strikes(self.faults.conflicts) || self.has(Trouble::Conflicts) {
            return Err(ObjectError::AlreadyExists { path: to.to_string(), source: "409 Conflict".into() });
        }
        let mode = if self.faults.overwrites { PutMode::Overwrite } else { PutMode::Create };
        let put = self.inner.put_opts(to, payload, PutOptions { mode, ..options }).await?;
        let is_lost = self.is_last() || self.strikes(self.faults.loses) || self.has(Trouble::Loses);
        if is_lost { Err(failure("connection reset")) } else { Ok(put) }
    }

    async fn put_multipart_opts(
        &self,
        _: &ObjectPath,
        _: PutMultipartOptions,
    ) -> ObjectResult<Box<dyn MultipartUpload>> {
        panic!("a file is created by one request")
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> ObjectResult<GetResult> {
        self.request(location)?;
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, ObjectResult<ObjectPath>>,
    ) -> BoxStream<'static, ObjectResult<ObjectPath>> {
        match self.request(&ObjectPath::ROOT) {
            Ok(()) if self.has(Trouble::Loses) => {
                let lost = |removed: ObjectResult<ObjectPath>| removed.and(Err(failure("connection reset")));
                self.inner.delete_stream(locations).map(lost).boxed()
            }
            Ok(()) => self.inner.delete_stream(locations),
            Err(error) => stream::once(async { Err(error) }).boxed(),
        }
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, ObjectResult<ObjectMeta>> {
        match self.request(&ObjectPath::ROOT) {
            Ok(()) => self.inner.list(prefix),
            Err(error) => stream::once(async { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> ObjectResult<ListResult> {
        self.request(prefix.unwrap_or(&ObjectPath::ROOT))?;
        let mut listed = self.inner.list_with_delimiter(prefix).await?;
        if self.faults.is_stale {
            let mut known = self.listed.lock().unwrap();
            known.extend(listed.objects.drain(..).map(|object| (object.location.clone(), object)));
            let depth = prefix.map_or(0, |prefix| prefix.parts().count()) + 1;
            let is_inside = |object: &&ObjectMeta| {
                let location = &object.location;
                location.parts().count() == depth && prefix.is_none_or(|prefix| location.prefix_matches(prefix))
            };
            let inside = known.values().filter(is_inside);
            listed.objects.extend(inside.filter(|object| self.has_arrived(object)).cloned());
        }
        Ok(listed)
    }

    async fn copy_opts(&self, _: &ObjectPath, _: &ObjectPath, _: CopyOptions) -> ObjectResult<()> {
        panic!("nothing is copied within a bucket")
    }
}

/// The store under a prefix of these objects. Its pauses are short.
fn store_of(objects: Arc<dyn ObjectStore>) -> BucketStore {
    BucketStore::new(objects, "s3://bucket/k", "k").unwrap().with_pause(Duration::from_micros(1))
}

fn in_memory() -> BucketStore {
    store_of(Arc::new(InMemory::new()))
}

/// The database in a store.
fn database_of(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let read = |name: &String| store.read(&format!("db/{name}"), 1 << 30).unwrap().unwrap();
    let names = store.list(task::DATABASE).unwrap().into_iter().map(|(name, _)| name);
    names.map(|name| (name.clone(), read(&name))).collect()
}

#[test]
fn a_bucket_keeps_the_promises_of_a_store() {
    keeps_its_promises(&in_memory());
    // At the top of a bucket, and deep below it.
    for prefix in ["", "a/b c/d"] {
        keeps_its_promises(&BucketStore::new(Arc::new(InMemory::new()), "s3://bucket", prefix).unwrap());
    }
    for prefix in ["a//b", "a/../b", "/a//"] {
        let error = BucketStore::new(Arc::new(InMemory::new()), "s3://bucket", prefix).err().unwrap();
        assert!(error.to_string().contains("s3://bucket"), "{error}");
    }
}

#[test]
fn a_prefix_in_use_for_something_else_is_refused_by_name() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let photos = store_of(objects.clone());
    assert!(photos.create("photos/1", b"x").unwrap());
    let game = Game::triangle(3, Rule::Misere, 4).unwrap();
    match init(&photos, (&game).into()).unwrap_err() {
        task::Error::Run(RunError::NotEmpty { name, .. }) => assert_eq!(name, "photos"),
        error => panic!("{error}"),
    }
    // A neighbouring prefix belongs to another store.
    let beside = BucketStore::new(objects, "s3://bucket/k2", "k2").unwrap();
    assert!(init(&beside, (&game).into()).unwrap());
    assert_eq!(photos.list("").unwrap(), []);
}

#[test]
fn any_order_leaves_the_bytes_of_a_solve_in_a_bucket() {
    for (layers, offset_bits, rule) in [(5, 9, Rule::Normal), (6, 13, Rule::Misere)] {
        let game = Game::triangle(layers, rule, offset_bits).unwrap();
        let expected = solved((&game).into());
        let store = in_memory();
        init(&store, (&game).into()).unwrap();
        for row in batches((&game).into(), 9) {
            // Each by two threads at once.
            std::thread::scope(|scope| {
                for threads in [1, 2] {
                    let (store, blocks) = (&store, &row.blocks);
                    scope.spawn(move || work(store, blocks, threads).unwrap());
                }
            });
            assert_eq!(work(&store, &row.blocks, 1).unwrap().skipped.len(), row.blocks.len());
        }
        assert_eq!(committed(&store, (&game).into()).unwrap().len(), game.layout.canonical_blocks().len());
        seal(&store).unwrap();
        seal(&store).unwrap();
        assert_same_files(&database_of(&store), &expected, &format!("{layers} layers, {rule}"));
    }
}

#[test]
fn a_bucket_that_fails_loses_answers_and_lists_late_only_needs_patience() {
    let game = Game::triangle(5, Rule::Normal, 8).unwrap();
    let expected = solved((&game).into());
    let none = Faults::default();
    for faults in [
        Faults { fails: 20, ..none },
        Faults { loses: 3, ..none },
        Faults { conflicts: 3, ..none },
        Faults { is_stale: true, ..none },
        Faults { fails: 15, loses: 4, conflicts: 4, is_stale: true, ..none },
    ] {
        let objects = Faulty::new(faults);
        let store = store_of(objects.clone());
        let patiently = |what: &mut dyn FnMut() -> Result<(), task::Error>| {
            for _ in 0..50 {
                match what() {
                    Ok(()) => return,
                    Err(task::Error::Run(RunError::Io { .. })) => {}
                    Err(error) => panic!("{faults:?}: {error}"),
                }
            }
            panic!("{faults:?}: fifty failures");
        };
        patiently(&mut || init(&store, (&game).into()).map(drop));
        for block in game.layout.ordinals() {
            patiently(&mut || work(&store, &[block.0], 1).map(drop));
            // If a listing lacks the block, it is computed again and then skipped.
            patiently(&mut || work(&store, &[block.0], 1).map(|done| assert_eq!(done.computed, [])));
        }
        if faults.is_stale {
            // A stale listing lacks blocks, so finishing waits.
            assert!(matches!(seal(&store), Err(task::Error::Unfinished { .. } | task::Error::Run(_))));
        }
        let (game, terms) = task::open(&store).unwrap();
        let fresh = store_of(Faulty::on(objects.inner.fork(), none));
        finish(&fresh, terms.spec(&game), Kernel::detect(), 1, |_| {}).unwrap();
        assert_same_files(&database_of(&fresh), &expected, &format!("{faults:?}"));
    }
}

/// Requests are repeated, with a limit, and forbidden ones are not repeated at all.
#[test]
fn a_service_that_is_down_is_asked_a_few_times() {
    let game = Game::triangle(3, Rule::Misere, 4).unwrap();
    for (faults, calls, kind) in [
        (Faults { fails: 1, ..Faults::default() }, u64::from(ATTEMPTS), std::io::ErrorKind::Other),
        (Faults { denies: true, ..Faults::default() }, 0, std::io::ErrorKind::PermissionDenied),
    ] {
        let objects = Faulty::new(faults);
        match init(&store_of(objects.clone()), (&game).into()).unwrap_err() {
            task::Error::Run(RunError::Io { source, path, .. }) => {
                assert_eq!((source.kind(), path.to_str()), (kind, Some("s3://bucket/k/task.json")));
            }
            error => panic!("{error}"),
        }
        assert_eq!(objects.calls.load(Ordering::Relaxed), calls, "{faults:?}");
    }
}

#[test]
fn a_service_that_overwrites_is_no_store() {
    let objects = Faulty::new(Faults { overwrites: true, ..Faults::default() });
    let store = store_of(objects);
    let game = Game::triangle(3, Rule::Misere, 4).unwrap();
    for _ in 0..2 {
        let error = init(&store, (&game).into()).unwrap_err();
        assert!(matches!(error, task::Error::Twice { .. }), "{error}");
        assert_eq!(store.read(task::DEFINITION, 1 << 20).unwrap(), None);
    }
}

#[test]
fn other_bytes_under_a_name_and_damage_are_refused_and_stay() {
    let game = Game::triangle(5, Rule::Misere, 9).unwrap();
    let store = in_memory();
    init(&store, (&game).into()).unwrap();
    let blocks: Vec<u32> = game.layout.ordinals().map(|block| block.0).collect();
    work(&store, &blocks, 2).unwrap();
    for name in ["db/000000.blk", "summaries/000001"] {
        let sound = store.read(name, 1 << 20).unwrap().unwrap();
        let mut wrong = sound.clone();
        *wrong.last_mut().unwrap() ^= 1;
        store.remove(name).unwrap();
        assert!(store.create(name, &wrong).unwrap());
        store.remove("db/000001.blk").unwrap();
        match work(&store, &[1], 1).unwrap_err() {
            task::Error::Run(RunError::Corrupt { path, .. }) => assert_eq!(path, store.path(name)),
            error => panic!("{error}"),
        }
        assert_eq!(store.read(name, 1 << 20).unwrap().unwrap(), wrong);
        store.remove(name).unwrap();
        assert!(store.create(name, &sound).unwrap());
        work(&store, &[1], 1).unwrap();
    }
    // An empty object under the name of a block.
    store.remove("db/000001.blk").unwrap();
    assert!(store.create("db/000001.blk", b"").unwrap());
    let error = work(&store, &[1], 1).unwrap_err();
    assert!(matches!(&error, task::Error::Run(RunError::Corrupt { .. })), "{error}");
}

#[test]
fn a_bucket_that_keeps_counts_sheds_its_blocks() {
    let terms = Terms::from(Keep::Counts);
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    // Stale listings never make a sweep remove needed files; reported blocks are not stale.
    for (is_stale, follows) in [(false, false), (true, false), (true, true)] {
        let store = store_of(Faulty::new(Faults { is_stale, ..Faults::default() }));
        init(&store, terms.spec(&game)).unwrap();
        let sweeper = Sweeper::new(&store, terms.spec(&game), Duration::ZERO).unwrap();
        let mut removed = 0;
        for block in game.layout.ordinals() {
            work(&store, &[block.0], 1).unwrap();
            if follows {
                sweeper.committed(&[block]).unwrap();
                removed = sweeper.swept().blocks;
            } else {
                removed += sweep(&store, terms.spec(&game), Duration::ZERO).unwrap().blocks;
            }
            assert_eq!(work(&store, &[block.0], 1).unwrap().skipped, [block]);
        }
        assert!(removed > 0);
        if follows || !is_stale {
            assert_eq!(removed, game.layout.canonical_blocks().len() as u64);
        }
        if !is_stale {
            seal(&store).unwrap();
            assert_same_files(&database_of(&store), &solved(terms.spec(&game)), "counts");
        }
    }
}

#[test]
fn a_copy_is_the_store_and_goes_on_where_it_was_stopped() {
    for keep in [Keep::Database, Keep::Counts] {
        let terms = Terms::from(keep);
        let game = Game::triangle(5, Rule::Misere, 9).unwrap();
        let bucket = in_memory();
        init(&bucket, terms.spec(&game)).unwrap();
        let solve = terms.spec(&game);
        let blocks: Vec<u32> = game.layout.ordinals().map(|block| block.0).collect();
        work(&bucket, &blocks, 2).unwrap();
        let folder = scratch();
        let local = store_in(folder.path(), "w");
        assert!(matches!(copy(&bucket, &local, solve, None, 2, |_| {}), Err(task::Error::Unsealed { .. })));
        seal(&bucket).unwrap();

        // A few blocks, then all; existing ones are not copied again.
        let few = [BlockId(1), BlockId(3)].into();
        let mut told = Vec::new();
        let first = copy(&bucket, &local, solve, Some(&few), 2, |blocks| told.push(blocks)).unwrap();
        assert!(told.into_iter().eq(1..=few.len() as u32));
        let whole = copy(&bucket, &local, solve, None, 3, |_| {}).unwrap();
        assert_eq!(whole.present, first.files);
        let again = copy(&bucket, &local, solve, None, 3, |_| {}).unwrap();
        assert_eq!((again.files, again.bytes, again.present), (0, 0, whole.files + whole.present));
        assert_same_files(&database_files(folder.path()), &solved(terms.spec(&game)), "a copy");
        if keep == Keep::Database {
            let database = Database::open(folder.path()).unwrap();
            let found = verify::verify(&database, Depth::Full, &Request::on(2)).unwrap().unwrap();
            assert!(found.is_clean(), "{found:?}");
        }
        // Back into another bucket.
        let other = in_memory();
        copy(&local, &other, solve, None, 1, |_| {}).unwrap();
        assert_same_files(&database_of(&other), &database_of(&bucket), "there and back");

        // The store of another solve is left alone, and damage is not copied.
        let foreign = in_memory();
        init(&foreign, (&Game::triangle(5, Rule::Normal, 9).unwrap()).into()).unwrap();
        assert!(matches!(copy(&bucket, &foreign, solve, None, 1, |_| {}), Err(task::Error::Differs { .. })));
        let name = if keep == Keep::Database { "db/000002.blk" } else { "db/manifest.json" };
        let mut bytes = bucket.read(name, 1 << 20).unwrap().unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        bucket.remove(name).unwrap();
        assert!(bucket.create(name, &bytes).unwrap());
        let target = in_memory();
        match copy(&bucket, &target, solve, None, 1, |_| {}).unwrap_err() {
            task::Error::Run(RunError::Corrupt { path, .. }) => assert_eq!(path, bucket.path(name)),
            error => panic!("{error}"),
        }
        assert_eq!(target.read(name, 1 << 20).unwrap(), None);
    }
}
