//! Replaces the C library's file calls: counts those below one folder and disturbs one of them.
//!
//! The fault harness loads it with `LD_PRELOAD` into the unchanged `trinim`; the test beside it
//! links it, so that its functions replace those of the C library there too. One counter covers all
//! threads, so "call 17" happens once in a run. Environment variables control it:
//!
//! | variable | meaning |
//! |---|---|
//! | `FAULTS_ROOT` | folder; calls on paths in it, and on descriptors opened in it, are watched. Unset: everything passes |
//! | `FAULTS_CALLS` | kinds that count, comma-separated: `open create read write sync rename unlink truncate mkdir lock list stat space stdout link`; default: all but `stdout` |
//! | `FAULTS_AT` | number of the call to hit, from 1; 0 or unset: none |
//! | `FAULTS_DO` | `kill` (before the call), `tear` (half of a write, then kill), `stop` (SIGSTOP before the call), `short` (half of a read or write), `errno:N` |
//! | `FAULTS_FOREVER` | `1`: hit every later call that counts as well |
//! | `FAULTS_NO_SYNC` | `1`: syncs succeed and do nothing |
//! | `FAULTS_RENUMBER` | `1`: a file has another inode number at each look |
//! | `FAULTS_LOG` | file for the lines below; outside the folder |
//! | `FAULTS_TRACE` | `1`: log `c KIND PATH` for every call that counts |
//! | `FAULTS_SYNCS` | `1`: log `s LENGTH PATH` after every successful sync |
//!
//! A call is logged as `f KIND PATH` before it is hit.
//!
//! # Invariants
//! 1. Unwatched calls reach the C library unchanged.
//! 2. The library allocates nothing and makes its own calls as raw system calls, because it runs
//!    inside `open` and `read` of its host.
//!
//! Long because every replaced function of the C library needs its own signature.
//!
//! Calls that bypass the C library are out of reach; trinim makes none.
#![expect(unsafe_code, reason = "it replaces functions of the C library")]

use libc::{c_char, c_int, c_uint, c_void, iovec, mode_t, off_t, size_t, ssize_t};
use std::ffi::CStr;
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

const KINDS: [&str; 15] = [
    "open", "create", "read", "write", "sync", "rename", "unlink", "truncate", "mkdir", "lock", "list", "stat",
    "space", "stdout", "link",
];
const OPEN: usize = 0;
const CREATE: usize = 1;
const READ: usize = 2;
const WRITE: usize = 3;
const SYNC: usize = 4;
const RENAME: usize = 5;
const UNLINK: usize = 6;
const TRUNCATE: usize = 7;
const MKDIR: usize = 8;
const LOCK: usize = 9;
const LIST: usize = 10;
const STAT: usize = 11;
const SPACE: usize = 12;
const STDOUT: usize = 13;
const LINK: usize = 14;

/// Descriptors beyond this are not watched; the program's limit is far lower.
const DESCRIPTORS: usize = 1 << 16;
static WATCHED: [AtomicBool; DESCRIPTORS] = [const { AtomicBool::new(false) }; DESCRIPTORS];
static COUNT: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Kill,
    Tear,
    Stop,
    Short,
    Errno(c_int),
}

struct Plan {
    root: Vec<u8>,
    calls: u32,
    at: u64,
    action: Action,
    forever: bool,
    no_sync: bool,
    renumbers: bool,
    log: c_int,
    trace: bool,
    syncs: bool,
}

fn plan() -> Option<&'static Plan> {
    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
    PLAN.get_or_init(read_plan).as_ref()
}

fn read_plan() -> Option<Plan> {
    let bytes = |name: &str| std::env::var_os(name).map(OsStringExt::into_vec);
    let text = |name: &str| bytes(name).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let is_set = |name: &str| text(name) == "1";
    let root = bytes("FAULTS_ROOT").filter(|root| !root.is_empty())?;
    let named = text("FAULTS_CALLS");
    let calls = KINDS.iter().enumerate().filter(|(kind, name)| match named.as_str() {
        "" => *kind != STDOUT,
        named => named.split(',').any(|one| one == **name),
    });
    let calls = calls.fold(0, |bits, (kind, _)| bits | 1 << kind);
    let action = match text("FAULTS_DO").as_str() {
        "tear" => Action::Tear,
        "stop" => Action::Stop,
        "short" => Action::Short,
        other => match other.strip_prefix("errno:").and_then(|number| number.parse().ok()) {
            Some(number) => Action::Errno(number),
            None => Action::Kill,
        },
    };
    let log = bytes("FAULTS_LOG").map_or(-1, |mut path| {
        path.push(0);
        // SAFETY: the path ends with a zero byte. A raw call, because this library replaces `open`.
        unsafe {
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600) as c_int
        }
    });
    Some(Plan {
        root,
        calls,
        at: text("FAULTS_AT").parse().unwrap_or(0),
        action,
        forever: is_set("FAULTS_FOREVER"),
        no_sync: is_set("FAULTS_NO_SYNC"),
        renumbers: is_set("FAULTS_RENUMBER"),
        log,
        trace: is_set("FAULTS_TRACE"),
        syncs: is_set("FAULTS_SYNCS"),
    })
}

/// Target of a call: a path as given, a descriptor, or a path below the folder of a descriptor.
enum Target<'a> {
    Path(&'a [u8]),
    Descriptor(c_int),
    Below(c_int, &'a [u8]),
}

impl Plan {
    fn has(&self, path: &[u8]) -> bool {
        path.strip_prefix(&self.root[..]).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    fn watches(&self, target: &Target<'_>) -> bool {
        match target {
            Target::Path(path) => self.has(path),
            Target::Descriptor(descriptor) => is_watched(*descriptor),
            // The folder around one that is watched need not be.
            Target::Below(folder, b"..") => {
                let mut path = [0u8; 4096];
                let path = path_of(*folder, &mut path);
                let around = path.iter().rposition(|byte| *byte == b'/').map_or(&path[..0], |end| &path[..end]);
                self.has(around)
            }
            Target::Below(folder, _) => is_watched(*folder),
        }
    }

    /// Writes one line of the log in one write, so that lines of different threads stay apart.
    fn write_line(&self, letter: u8, word: &[u8], target: &Target<'_>) {
        if self.log < 0 {
            return;
        }
        let mut line = [0u8; 4400];
        let mut length = 0;
        let mut put = |bytes: &[u8]| {
            let room = line.len() - 1 - length;
            let bytes = &bytes[..bytes.len().min(room)];
            line[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
        };
        put(&[letter, b' ']);
        put(word);
        put(b" ");
        let mut path = [0u8; 4096];
        match target {
            Target::Path(path) => put(path),
            Target::Descriptor(descriptor) | Target::Below(descriptor, b".") => put(path_of(*descriptor, &mut path)),
            Target::Below(folder, name) => {
                put(path_of(*folder, &mut path));
                put(b"/");
                put(name);
            }
        }
        put(b"\n");
        // SAFETY: the buffer holds `length` bytes.
        unsafe { libc::syscall(libc::SYS_write, self.log, line.as_ptr(), length) };
    }
}

/// Writes a number in decimal at the end of `buffer`.
fn decimal(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}

fn path_of(descriptor: c_int, buffer: &mut [u8; 4096]) -> &[u8] {
    let mut digits = [0; 20];
    let mut name = [0u8; 40];
    let prefix = b"/proc/self/fd/";
    let number = decimal(descriptor.max(0) as u64, &mut digits);
    name[..prefix.len()].copy_from_slice(prefix);
    name[prefix.len()..prefix.len() + number.len()].copy_from_slice(number);
    // SAFETY: the name ends with a zero byte, and the buffer has the length passed.
    let length = unsafe {
        libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, name.as_ptr(), buffer.as_mut_ptr(), buffer.len())
    };
    &buffer[..usize::try_from(length).unwrap_or(0)]
}

fn set_errno(number: c_int) {
    // SAFETY: the C library's own location of the number, for this thread.
    unsafe { *libc::__errno_location() = number };
}

fn leave() -> ! {
    // SAFETY: no memory is involved; SIGKILL does not return.
    unsafe {
        libc::syscall(libc::SYS_kill, libc::getpid(), libc::SIGKILL);
        loop {
            libc::pause();
        }
    }
}

/// Counts a call. Returns what the caller has to do if it is hit: fail, or transfer less, or tear
/// the write.
fn meet(kind: usize, target: Target<'_>) -> Option<Action> {
    let plan = plan()?;
    if !(kind == STDOUT || plan.watches(&target)) || plan.calls >> kind & 1 == 0 {
        return None;
    }
    let number = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
    if plan.trace {
        plan.write_line(b'c', KINDS[kind].as_bytes(), &target);
    }
    if plan.at == 0 || !(number == plan.at || plan.forever && number > plan.at) {
        return None;
    }
    plan.write_line(b'f', KINDS[kind].as_bytes(), &target);
    match plan.action {
        Action::Tear if kind == WRITE => Some(Action::Tear),
        Action::Kill | Action::Tear => leave(),
        Action::Stop => {
            // SAFETY: no memory is involved.
            unsafe { libc::syscall(libc::SYS_kill, libc::getpid(), libc::SIGSTOP) };
            None
        }
        action => Some(action),
    }
}

fn meet_path(kind: usize, path: *const c_char) -> Option<Action> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the host passes a path that ends with a zero byte, as the C library requires.
    meet(kind, Target::Path(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

fn is_watched(descriptor: c_int) -> bool {
    let slot = usize::try_from(descriptor).ok().and_then(|descriptor| WATCHED.get(descriptor));
    slot.is_some_and(|slot| slot.load(Ordering::SeqCst))
}

fn watch(descriptor: c_int, watched: bool) {
    if let Some(slot) = usize::try_from(descriptor).ok().and_then(|descriptor| WATCHED.get(descriptor)) {
        slot.store(watched, Ordering::SeqCst);
    }
}

/// Watches the descriptor of a successful `open` if its path is watched.
fn opened(folder: c_int, path: *const c_char, descriptor: c_int) -> c_int {
    if let Some(plan) = plan()
        && descriptor >= 0
        && !path.is_null()
    {
        // SAFETY: as in `meet_path`.
        let target = target_at(folder, unsafe { CStr::from_ptr(path) }.to_bytes());
        watch(descriptor, plan.watches(&target));
    }
    descriptor
}

/// Returns whether the call has to fail, and sets the error number if so.
fn fails(hit: Option<Action>) -> bool {
    if let Some(Action::Errno(number)) = hit {
        set_errno(number);
        return true;
    }
    false
}

/// Returns the length of a transfer that is hit: half of it, at least one byte.
fn half(bytes: size_t) -> size_t {
    (bytes / 2).max(1).min(bytes)
}

/// Returns the address of the C library's function of that name, looked up once.
fn next(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let mut address = slot.load(Ordering::Relaxed);
    if address.is_null() {
        // SAFETY: the name ends with a zero byte.
        address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if address.is_null() {
            leave();
        }
        slot.store(address, Ordering::Relaxed);
    }
    address
}

/// The C library's function of that name. Unsafe, because the signature has to be the documented
/// one.
macro_rules! real {
    ($name:literal as $signature:ty) => {{
        static SLOT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        std::mem::transmute::<*mut c_void, $signature>(next(&SLOT, $name))
    }};
}

/// Calls that take a path or a descriptor first, and either happen or fail.
macro_rules! plain {
    ($($symbol:ident($($argument:ident: $type:ty),*) as $name:literal, $kind:expr, $meet:expr;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol($($argument: $type),*) -> c_int {
            if fails($meet($kind)) {
                return -1;
            }
            // SAFETY: the host's own arguments.
            unsafe { real!($name as unsafe extern "C" fn($($type),*) -> c_int)($($argument),*) }
        }
    )*};
}

/// Calls that look at a file, whose number `FAULTS_RENUMBER` changes, as some network file systems
/// do.
macro_rules! looks {
    ($($symbol:ident($($argument:ident: $type:ty),*) as $name:literal, $figures:ident: $kind:ty, $number:ident, $meet:expr;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol($($argument: $type),*) -> c_int {
            if fails($meet(STAT)) {
                return -1;
            }
            // SAFETY: the host's own arguments; a call that succeeds has filled the figures.
            unsafe {
                let found = real!($name as unsafe extern "C" fn($($type),*) -> c_int)($($argument),*);
                if found == 0 && plan().is_some_and(|plan| plan.renumbers) {
                    (*$figures.cast::<$kind>()).$number = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
                }
                found
            }
        }
    )*};
}

looks! {
    fstat64(descriptor: c_int, figures: *mut c_void)
        as c"fstat64", figures: libc::stat64, st_ino, |kind| meet(kind, Target::Descriptor(descriptor));
    fstatat64(folder: c_int, path: *const c_char, figures: *mut c_void, flags: c_int)
        as c"fstatat64", figures: libc::stat64, st_ino, |kind| meet_at(kind, folder, path);
    statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, figures: *mut c_void)
        as c"statx", figures: libc::statx, stx_ino, |kind| meet_at(kind, folder, path);
}

plain! {
    rename(from: *const c_char, to: *const c_char) as c"rename", RENAME, |kind| meet_path(kind, to);
    link(from: *const c_char, to: *const c_char) as c"link", LINK, |kind| meet_path(kind, to);
    linkat(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_int)
        as c"linkat", LINK, |kind| meet_at(kind, new, to);
    unlink(path: *const c_char) as c"unlink", UNLINK, |kind| meet_path(kind, path);
    rmdir(path: *const c_char) as c"rmdir", UNLINK, |kind| meet_path(kind, path);
    mkdir(path: *const c_char, mode: mode_t) as c"mkdir", MKDIR, |kind| meet_path(kind, path);
    mkdirat(folder: c_int, path: *const c_char, mode: mode_t)
        as c"mkdirat", MKDIR, |kind| meet_at(kind, folder, path);
    ftruncate(descriptor: c_int, length: off_t)
        as c"ftruncate", TRUNCATE, |kind| meet(kind, Target::Descriptor(descriptor));
    ftruncate64(descriptor: c_int, length: off_t)
        as c"ftruncate64", TRUNCATE, |kind| meet(kind, Target::Descriptor(descriptor));
    flock(descriptor: c_int, operation: c_int) as c"flock", LOCK, |kind| meet(kind, Target::Descriptor(descriptor));
    fallocate(descriptor: c_int, mode: c_int, offset: off_t, length: off_t)
        as c"fallocate", SPACE, |kind| meet(kind, Target::Descriptor(descriptor));
    fallocate64(descriptor: c_int, mode: c_int, offset: off_t, length: off_t)
        as c"fallocate64", SPACE, |kind| meet(kind, Target::Descriptor(descriptor));
    statvfs(path: *const c_char, figures: *mut c_void) as c"statvfs", SPACE, |kind| meet_path(kind, path);
    fstatvfs(descriptor: c_int, figures: *mut c_void)
        as c"fstatvfs", SPACE, |kind| meet(kind, Target::Descriptor(descriptor));
    fstatvfs64(descriptor: c_int, figures: *mut c_void)
        as c"fstatvfs64", SPACE, |kind| meet(kind, Target::Descriptor(descriptor));
    statvfs64(path: *const c_char, figures: *mut c_void) as c"statvfs64", SPACE, |kind| meet_path(kind, path);
    stat64(path: *const c_char, figures: *mut c_void) as c"stat64", STAT, |kind| meet_path(kind, path);
    lstat64(path: *const c_char, figures: *mut c_void) as c"lstat64", STAT, |kind| meet_path(kind, path);
    fstatat(folder: c_int, path: *const c_char, figures: *mut c_void, flags: c_int)
        as c"fstatat", STAT, |kind| meet_at(kind, folder, path);
    renameat(old: c_int, from: *const c_char, new: c_int, to: *const c_char)
        as c"renameat", RENAME, |kind| meet_at(kind, new, to);
    renameat2(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_uint)
        as c"renameat2", RENAME, |kind| meet_at(kind, new, to);
    unlinkat(folder: c_int, path: *const c_char, flags: c_int)
        as c"unlinkat", UNLINK, |kind| meet_at(kind, folder, path);
}

/// Meets a call with a folder's descriptor and a path; an empty path means the descriptor.
fn meet_at(kind: usize, folder: c_int, path: *const c_char) -> Option<Action> {
    if path.is_null() {
        return None;
    }
    // SAFETY: as in `meet_path`.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    meet(kind, target_at(folder, bytes))
}

fn target_at(folder: c_int, path: &[u8]) -> Target<'_> {
    match path {
        b"" => Target::Descriptor(folder),
        [b'/', ..] => Target::Path(path),
        _ if folder == libc::AT_FDCWD => Target::Path(path),
        _ => Target::Below(folder, path),
    }
}

fn kind_of(flags: c_int) -> usize {
    if flags & libc::O_CREAT != 0 { CREATE } else { OPEN }
}

/// The variadic `open` family. On the supported systems a missing third argument is read as garbage
/// and passed on; the C library ignores it without `O_CREAT`.
macro_rules! open_family {
    ($($symbol:ident as $name:literal;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            if fails(meet_path(kind_of(flags), path)) {
                return -1;
            }
            // SAFETY: the host's own arguments.
            let descriptor = unsafe {
                let call = real!($name as unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int);
                call(path, flags, mode)
            };
            opened(libc::AT_FDCWD, path, descriptor)
        }
    )*};
}

open_family! { open as c"open"; open64 as c"open64"; }

macro_rules! openat_family {
    ($($symbol:ident as $name:literal;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            if fails(meet_at(kind_of(flags), folder, path)) {
                return -1;
            }
            // SAFETY: the host's own arguments.
            let descriptor = unsafe {
                let call = real!($name as unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int);
                call(folder, path, flags, mode)
            };
            opened(folder, path, descriptor)
        }
    )*};
}

openat_family! { openat as c"openat"; openat64 as c"openat64"; }

/// Replaces the C library's function of this name.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn creat(path: *const c_char, mode: mode_t) -> c_int {
    if fails(meet_path(CREATE, path)) {
        return -1;
    }
    // SAFETY: the host's own arguments.
    opened(libc::AT_FDCWD, path, unsafe {
        real!(c"creat" as unsafe extern "C" fn(*const c_char, mode_t) -> c_int)(path, mode)
    })
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    watch(descriptor, false);
    // SAFETY: the host's own argument.
    unsafe { real!(c"close" as unsafe extern "C" fn(c_int) -> c_int)(descriptor) }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut libc::DIR {
    if fails(meet_path(LIST, path)) {
        return std::ptr::null_mut();
    }
    // SAFETY: the host's own argument; a stream just opened has a descriptor.
    unsafe {
        let stream = real!(c"opendir" as unsafe extern "C" fn(*const c_char) -> *mut libc::DIR)(path);
        if !stream.is_null() {
            opened(libc::AT_FDCWD, path, libc::dirfd(stream));
        }
        stream
    }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closedir(stream: *mut libc::DIR) -> c_int {
    // SAFETY: the host's own argument, an open stream.
    unsafe {
        watch(libc::dirfd(stream), false);
        real!(c"closedir" as unsafe extern "C" fn(*mut libc::DIR) -> c_int)(stream)
    }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readdir64(stream: *mut libc::DIR) -> *mut c_void {
    // SAFETY: the host's own argument, an open stream.
    unsafe {
        if fails(meet(LIST, Target::Descriptor(libc::dirfd(stream)))) {
            return std::ptr::null_mut();
        }
        real!(c"readdir64" as unsafe extern "C" fn(*mut libc::DIR) -> *mut c_void)(stream)
    }
}

macro_rules! syncs {
    ($($symbol:ident as $name:literal;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(descriptor: c_int) -> c_int {
            if fails(meet(SYNC, Target::Descriptor(descriptor))) {
                return -1;
            }
            let lies = plan().is_some_and(|plan| plan.no_sync);
            let result = if lies {
                0
            } else {
                // SAFETY: the host's own argument.
                unsafe { real!($name as unsafe extern "C" fn(c_int) -> c_int)(descriptor) }
            };
            if result == 0 {
                said_yes(descriptor);
            }
            result
        }
    )*};
}

syncs! { fsync as c"fsync"; fdatasync as c"fdatasync"; }

/// Logs a sync with the current length of the file.
fn said_yes(descriptor: c_int) {
    let Some(plan) = plan().filter(|plan| plan.syncs && is_watched(descriptor)) else { return };
    // SAFETY: no memory is involved; the new position does not affect a program that reads and
    // writes by position.
    let length = unsafe { libc::syscall(libc::SYS_lseek, descriptor, 0, libc::SEEK_END) };
    let mut digits = [0; 20];
    let length = decimal(u64::try_from(length).unwrap_or(0), &mut digits);
    plan.write_line(b's', length, &Target::Descriptor(descriptor));
}

/// Transfers of bytes; a short one changes `$length`.
macro_rules! transfers {
    ($($symbol:ident($descriptor:ident, $buffer:ident: $pointer:ty, $length:ident $(, $offset:ident: $type:ty)?)
        as $name:literal, $kind:expr;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(
            $descriptor: c_int,
            $buffer: $pointer,
            $length: size_t
            $(, $offset: $type)?
        ) -> ssize_t {
            let kind = if $descriptor == libc::STDOUT_FILENO { STDOUT } else { $kind };
            let hit = meet(kind, Target::Descriptor($descriptor));
            if fails(hit) {
                return -1;
            }
            let length = if hit.is_some() { half($length) } else { $length };
            // SAFETY: the host's own arguments, or a part of its buffer.
            let result = unsafe {
                let call = real!($name as unsafe extern "C" fn(c_int, $pointer, size_t $(, $type)?) -> ssize_t);
                call($descriptor, $buffer, length $(, $offset)?)
            };
            if hit == Some(Action::Tear) {
                leave();
            }
            result
        }
    )*};
}

transfers! {
    read(descriptor, buffer: *mut c_void, length) as c"read", READ;
    pread(descriptor, buffer: *mut c_void, length, offset: off_t) as c"pread", READ;
    pread64(descriptor, buffer: *mut c_void, length, offset: off_t) as c"pread64", READ;
    write(descriptor, buffer: *const c_void, length) as c"write", WRITE;
    pwrite(descriptor, buffer: *const c_void, length, offset: off_t) as c"pwrite", WRITE;
    pwrite64(descriptor, buffer: *const c_void, length, offset: off_t) as c"pwrite64", WRITE;
}

/// Transfers of several buffers; a short one is the first buffer alone.
macro_rules! vectors {
    ($($symbol:ident($($offset:ident: $type:ty)?) as $name:literal, $kind:expr;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(
            descriptor: c_int,
            buffers: *const iovec,
            count: c_int
            $(, $offset: $type)?
        ) -> ssize_t {
            let kind = if descriptor == libc::STDOUT_FILENO { STDOUT } else { $kind };
            let hit = meet(kind, Target::Descriptor(descriptor));
            if fails(hit) {
                return -1;
            }
            let count = if hit.is_some() { count.min(1) } else { count };
            // SAFETY: the host's own arguments, or the first of its buffers.
            let result = unsafe {
                let call = real!($name as unsafe extern "C" fn(c_int, *const iovec, c_int $(, $type)?) -> ssize_t);
                call(descriptor, buffers, count $(, $offset)?)
            };
            if hit == Some(Action::Tear) {
                leave();
            }
            result
        }
    )*};
}

vectors! {
    readv() as c"readv", READ;
    preadv(offset: off_t) as c"preadv", READ;
    preadv64(offset: off_t) as c"preadv64", READ;
    writev() as c"writev", WRITE;
    pwritev(offset: off_t) as c"pwritev", WRITE;
    pwritev64(offset: off_t) as c"pwritev64", WRITE;
}
