//! The threads of a simulated process, and the choice of the next one.
//!
//! # Invariants
//! 1. A coroutine is absent from the list of threads while it runs, so the functions it calls can
//!    borrow the list.
//! 2. A thread never outlives its borrows: [`crate::scope`] returns after all its threads have
//!    ended, and [`run`] after the first.
//! 3. No thread is suspended while it unwinds, because `std::thread::panicking` is a property of
//!    the one real thread.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Points of choice after which a process counts as stuck.
pub const POINTS_AT_MOST: u64 = 5_000_000;
const STACK_BYTES: usize = 1 << 20;

/// How the threads of a process are interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Seed of all random numbers, which also decide how often threads switch and how fast time
    /// passes.
    pub seed: u64,
}

#[derive(Clone, Copy)]
enum Style {
    /// The running thread continues until it waits, seven times out of eight.
    Patient,
    /// Any ready thread, each time.
    Restless,
    /// The thread of the highest priority; at random the running one gets the lowest.
    Ranked,
}

/// A process that would hang, because no thread can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Points of choice so far.
    pub points: u64,
    /// Threads that had not ended.
    pub threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Ready,
    Waits { key: usize, timed: bool },
    Ended,
}

type Routine = Coroutine<(), (), (), DefaultStack>;

struct Thread {
    routine: Option<Routine>,
    yielder: *const Yielder<(), ()>,
    standing: Standing,
    /// Whether the last wait ended because its time ran out.
    timed_out: bool,
    rank: u64,
}

struct World {
    threads: Vec<Thread>,
    current: usize,
    random: u64,
    style: Style,
    /// Average number of points of choice until the time of a waiting thread runs out; 0 if it runs
    /// out only when no thread can continue otherwise.
    impatience: u64,
    lowest_rank: u64,
    points: u64,
    stuck: Option<Stuck>,
    giving_up: u32,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The panic that unwinds the threads of a stuck process.
struct GivenUp;

impl World {
    fn new(timing: Timing) -> World {
        let mut world = World {
            threads: Vec::new(),
            current: 0,
            random: timing.seed,
            style: Style::Patient,
            impatience: 0,
            lowest_rank: u64::MAX / 2,
            points: 0,
            stuck: None,
            giving_up: 0,
        };
        world.style = [Style::Patient, Style::Restless, Style::Ranked][world.below(3)];
        world.impatience = [0, 8, 8, 40, 40, 200][world.below(6)];
        world
    }

    /// SplitMix64 (Steele, Lea and Flood 2014). The engine's generator is out of reach, because the
    /// engine is compiled against this crate.
    fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    fn count(&self, is: impl Fn(&Thread) -> bool) -> usize {
        self.threads.iter().filter(|thread| is(thread)).count()
    }

    fn nth(&self, index: usize, is: impl Fn(&Thread) -> bool) -> usize {
        let mut found = self.threads.iter().enumerate().filter(|(_, thread)| is(thread));
        found.nth(index).map_or(0, |(at, _)| at)
    }

    fn let_time_pass(&mut self) -> bool {
        let is_timed = |thread: &Thread| matches!(thread.standing, Standing::Waits { timed: true, .. });
        let timed = self.count(is_timed);
        if timed == 0 {
            return false;
        }
        let index = self.below(timed);
        let late = self.nth(index, is_timed);
        self.threads[late].standing = Standing::Ready;
        self.threads[late].timed_out = true;
        true
    }

    /// Chooses the thread that runs next.
    fn pick(&mut self) -> usize {
        self.points += 1;
        if self.impatience > 0 && self.bits().is_multiple_of(self.impatience) {
            self.let_time_pass();
        }
        let is_ready = |thread: &Thread| thread.standing == Standing::Ready;
        let mut ready = self.count(is_ready);
        if ready == 0 && self.let_time_pass() {
            ready = 1;
        }
        if ready == 0 || self.points > POINTS_AT_MOST {
            self.give_up();
            ready = self.count(is_ready);
        }
        let here = is_ready(&self.threads[self.current]);
        if here && ready == 1 {
            return self.current;
        }
        let goes_on = here && self.below(8) > 0;
        match self.style {
            Style::Patient if goes_on => self.current,
            Style::Patient | Style::Restless => {
                let index = self.below(ready);
                self.nth(index, is_ready)
            }
            Style::Ranked => {
                if here && self.below(24) == 0 {
                    self.lowest_rank -= 1;
                    self.threads[self.current].rank = self.lowest_rank;
                }
                let ranks = self.threads.iter().enumerate().filter(|(_, thread)| is_ready(thread));
                ranks.max_by_key(|(_, thread)| thread.rank).map_or(0, |(at, _)| at)
            }
        }
    }

    /// Makes every thread unwind, because none can continue.
    fn give_up(&mut self) {
        let threads = self.count(|thread| thread.standing != Standing::Ended);
        let points = self.points;
        self.stuck.get_or_insert(Stuck { points, threads });
        self.giving_up += 1;
        // A thread that waits while others unwind is woken repeatedly. That ends unless the
        // scheduler itself is wrong.
        if self.giving_up > 10_000 {
            eprintln!("a stuck simulated process does not unwind");
            std::process::abort();
        }
        for thread in &mut self.threads {
            if thread.standing != Standing::Ended {
                thread.standing = Standing::Ready;
            }
        }
    }
}

fn with_world<T>(work: impl FnOnce(&mut World) -> T) -> Option<T> {
    WORLD.with_borrow_mut(|world| world.as_mut().map(work))
}

/// Runs the chosen thread until this one is chosen again.
fn switch(next: usize) {
    let here = with_world(|world| {
        let here = world.current;
        world.current = next;
        (here != next).then(|| world.threads[here].yielder)
    });
    if let Some(Some(yielder)) = here {
        // SAFETY: the running coroutine, which is this one, set the pointer; its yielder lives as
        // long as it does.
        #[expect(unsafe_code, reason = "a coroutine's own yielder cannot be kept in a thread-local otherwise")]
        unsafe {
            (*yielder).suspend(());
        }
    }
}

fn unwind_if_stuck() {
    if with_world(|world| world.stuck.is_some()) == Some(true) && !std::thread::panicking() {
        resume_unwind(Box::new(GivenUp));
    }
}

/// Marks a point of choice. Does nothing outside a simulated process or while a thread unwinds.
pub fn pause() {
    if std::thread::panicking() {
        return;
    }
    if let Some(next) = with_world(World::pick) {
        switch(next);
        unwind_if_stuck();
    }
}

/// Waits until another thread wakes `key` or, if `timed`, until the seed lets the time run out.
/// Returns whether the time ran out.
///
/// The caller must check its condition afterwards.
pub(crate) fn wait(key: usize, timed: bool) -> bool {
    if std::thread::panicking() {
        eprintln!("a thread of a simulated process waits while it unwinds");
        std::process::abort();
    }
    let next = with_world(|world| {
        let current = world.current;
        world.threads[current].standing = Standing::Waits { key, timed };
        world.threads[current].timed_out = false;
        world.pick()
    });
    let Some(next) = next else { panic!("a wait outside of a simulated process") };
    switch(next);
    unwind_if_stuck();
    with_world(|world| world.threads[world.current].timed_out).unwrap_or(false)
}

/// Waits like [`wait`], but also during the clean-up of a stuck process.
pub(crate) fn wait_for_end(key: usize) {
    let next = with_world(|world| {
        let current = world.current;
        world.threads[current].standing = Standing::Waits { key, timed: false };
        world.pick()
    });
    if let Some(next) = next {
        switch(next);
    }
}

pub(crate) fn wake(key: usize) {
    with_world(|world| {
        for thread in &mut world.threads {
            if matches!(thread.standing, Standing::Waits { key: on, .. } if on == key) {
                thread.standing = Standing::Ready;
            }
        }
    });
}

/// Adds a thread, which runs once it is chosen.
pub(crate) fn spawn<'a>(work: impl FnOnce() + 'a) {
    let work: Box<dyn FnOnce() + 'a> = Box::new(work);
    // SAFETY: invariant 2; an ended coroutine is dropped before its scope returns.
    #[expect(unsafe_code, reason = "scoped threads borrow; the standard library's do it the same way")]
    let work: Box<dyn FnOnce()> = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(work) };
    let stack = STACKS.with_borrow_mut(Vec::pop);
    let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("memory for a stack"));
    with_world(|world| {
        let index = world.threads.len();
        let routine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            with_world(|world| world.threads[index].yielder = yielder);
            work();
        });
        let rank = world.bits() | 1 << 63;
        let standing = Standing::Ready;
        world.threads.push(Thread {
            routine: Some(routine),
            yielder: std::ptr::null(),
            standing,
            timed_out: false,
            rank,
        });
    })
    .expect("threads are spawned inside of a simulated process");
}

/// Runs `work` as the first thread of a simulated process, until it ends.
///
/// # Errors
/// [`Stuck`] if no thread can continue; its threads have unwound.
///
/// # Panics
/// With the panic of `work`, or if called inside another simulated process.
pub fn run<T>(timing: Timing, work: impl FnOnce() -> T) -> Result<T, Stuck> {
    WORLD.with_borrow_mut(|world| {
        assert!(world.is_none(), "a simulated process inside of another");
        *world = Some(World::new(timing));
    });
    let mut result: Option<Result<T, Box<dyn Any + Send>>> = None;
    spawn(|| result = Some(catch_unwind(AssertUnwindSafe(work))));
    while let Some((index, mut routine)) = with_world(|world| {
        let current = world.current;
        world.threads[current].routine.take().map(|routine| (current, routine))
    })
    .flatten()
    {
        if let CoroutineResult::Yield(()) = routine.resume(()) {
            with_world(|world| world.threads[index].routine = Some(routine));
            continue;
        }
        STACKS.with_borrow_mut(|stacks| stacks.push(routine.into_stack()));
        with_world(|world| {
            world.threads[index].standing = Standing::Ended;
            if index > 0 {
                world.current = world.pick();
            }
        });
        if index == 0 {
            break;
        }
    }
    let world = WORLD.with_borrow_mut(Option::take);
    let stuck = world.and_then(|world| world.stuck);
    match (stuck, result) {
        (Some(stuck), _) => Err(stuck),
        (None, Some(Ok(value))) => Ok(value),
        (None, Some(Err(panic))) => resume_unwind(panic),
        (None, None) => unreachable!("the first thread has ended"),
    }
}
