//! Explores the given number of states of the simulated disk: `explore [STATES] [FIRST ROOT]`.
//!
//! `SIMULATION_THREADS` sets the number of threads (default: 2), `SIMULATION_SECONDS` a time limit.

use simulation::explore::{Explorer, Failure};
use simulation::subject::Subject;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

fn number(text: Option<String>, default: u64) -> Result<u64, String> {
    let Some(text) = text else { return Ok(default) };
    text.replace('_', "").parse().map_err(|_| format!("{text} is not a number"))
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let states = number(arguments.next(), 5_000_000)?;
    let first = number(arguments.next(), 0)?;
    let threads = number(std::env::var("SIMULATION_THREADS").ok(), 2)?.max(1) as usize;
    let seconds = number(std::env::var("SIMULATION_SECONDS").ok(), 1 << 40)?;
    let subjects = Subject::all();
    let explorer = Explorer::new(&subjects, &Failure::ALL);
    let (start, last) = (Instant::now(), Mutex::new(Instant::now()));
    let tally = explorer.explore(first, states, Duration::from_secs(seconds), threads, &|tally| {
        let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.elapsed() > Duration::from_secs(10) {
            *last = Instant::now();
            let rate = tally.states as f64 / start.elapsed().as_secs_f64();
            eprintln!("{:.0} s: {} states, {rate:.0} a second", start.elapsed().as_secs_f64(), tally.states);
        }
    });
    let tally = tally.map_err(|found| found.to_string())?;
    println!("{tally:#?}\n{:.1} s, 0 wrong, 0 lost, 0 stuck", start.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(story) => {
            eprintln!("{story}");
            ExitCode::FAILURE
        }
    }
}
