//! What every store of tasks promises.

use pipeline::{Damage, Error};
use std::sync::atomic::{AtomicUsize, Ordering};
use trinim_task::{DATABASE, Store};

/// Checks the promises of the trait with a new and empty store.
pub fn keeps_its_promises(store: &dyn Store) {
    store.prepare().unwrap();
    store.prepare().unwrap();
    let name = "db/000007.blk";
    assert_eq!(store.read(name, 10).unwrap(), None);
    assert_eq!(store.begin(name, 4).unwrap(), None);
    store.remove(name).unwrap();
    assert!(store.path(name).to_str().unwrap().ends_with("db/000007.blk"));

    // Created once, whole, and never changed.
    assert!(store.create(name, b"seven").unwrap());
    assert!(!store.create(name, b"other").unwrap());
    assert!(!store.create(name, b"seven").unwrap());
    assert_eq!(store.read(name, 5).unwrap().unwrap(), b"seven");
    for (bytes, begin) in [(1, &b"s"[..]), (5, b"seven"), (100, b"seven")] {
        assert_eq!(store.begin(name, bytes).unwrap(), Some((begin.to_vec(), 5)), "{bytes} bytes");
    }
    // A longer file than allowed is damage, and is not read.
    match store.read(name, 4).unwrap_err() {
        Error::Corrupt { path, damage: Damage::Length { found: 5, .. }, .. } => assert_eq!(path, store.path(name)),
        error => panic!("{error}"),
    }
    assert!(store.create("db/empty", b"").unwrap());
    assert_eq!(store.begin("db/empty", 8).unwrap(), Some((Vec::new(), 0)));
    assert_eq!(store.read("db/empty", 0).unwrap(), Some(Vec::new()));

    // Listed by folder, with lengths.
    assert!(store.create("summaries/000007", b"sum").unwrap());
    store.sync(DATABASE).unwrap();
    let mut listed = store.list(DATABASE).unwrap();
    listed.sort();
    assert_eq!(listed, [("000007.blk".to_owned(), 5), ("empty".to_owned(), 0)]);
    assert_eq!(store.temporaries().unwrap(), []);
    store.prepare().unwrap();

    // Removed, it can be created again.
    store.remove(name).unwrap();
    assert_eq!(store.read(name, 10).unwrap(), None);
    assert_eq!(store.list(DATABASE).unwrap().len(), 1);
    assert!(store.create(name, b"again").unwrap());

    // Of many concurrent creations, one succeeds.
    let created = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..16 {
            let created = &created;
            scope.spawn(move || {
                if store.create("db/race", &[number; 9]).unwrap() {
                    created.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
    let won = store.read("db/race", 9).unwrap().unwrap();
    assert!(won.iter().all(|byte| *byte == won[0]), "of one piece: {won:?}");
}
