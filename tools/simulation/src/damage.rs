//! Damage to a run folder, one case at a time: flipped bits, other lengths, files swapped, deleted,
//! or taken from another time or another run.
//!
//! A case is a copy of a disk with durable changes to one file, or to two if files are swapped or
//! both copies are hit. Then one session without faults resumes the run. It must end right, or be
//! refused with a file named, or publish a file that the checksums beside it contradict.

use crate::explore::Found;
use crate::judge::{Trust, Verdict, Wrong, judge};
use crate::session::run;
use crate::subject::Subject;
use crate::sweep::Sweep;
use pipeline::Placement;
use testing::{Random, SimulatedStorage};

/// A run folder to damage.
pub struct Folder<'a> {
    /// The subject that runs in it.
    pub subject: &'a Subject,
    /// The folder.
    pub disk: SimulatedStorage,
    /// Blocks that it acknowledged, as a set of bits.
    pub acknowledged: u64,
}

/// Files with their new contents, `None` to delete a file.
pub type Changes<'a> = [(&'a str, Option<&'a [u8]>)];

/// How the cases of a sweep ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The right result.
    pub right: u64,
    /// Refused, with a file named.
    pub refused: u64,
    /// Contradicted by checksums.
    pub detectable: u64,
}

impl Outcomes {
    /// Returns the number of cases.
    pub fn cases(&self) -> u64 {
        self.right + self.refused + self.detectable
    }
}

impl Folder<'_> {
    /// Lists the names of the files.
    pub fn names(&self) -> Vec<String> {
        self.disk.names()
    }

    /// Changes files, resumes the run, and judges the end.
    ///
    /// # Errors
    /// [`Found`] if the end is wrong.
    pub fn case(
        &self,
        outcomes: &mut Outcomes,
        story: &dyn Fn() -> String,
        changes: &Changes<'_>,
    ) -> Result<(), Box<Found>> {
        let disk = self.disk.kill();
        for (name, contents) in changes {
            match contents {
                Some(contents) => disk.put(name, contents),
                None => disk.take(name),
            }
        }
        let number = outcomes.cases();
        let mut random = Random::new(number);
        let placement = *random.one_of(&[Placement::Dedicated, Placement::Shared]);
        let options = self.subject.options(1, placement, "raw");
        let session = run(self.subject, &disk, options, random.bits());
        match judge(self.subject, &disk, session, self.acknowledged, Trust::Corrupted) {
            Ok(Verdict::Right | Verdict::Lost) => outcomes.right += 1,
            Ok(Verdict::Refused) => outcomes.refused += 1,
            Ok(Verdict::Detectable) => outcomes.detectable += 1,
            Err(wrong) => return Err(self.found(number, story(), wrong)),
        }
        Ok(())
    }

    fn found(&self, root: u64, story: String, wrong: Wrong) -> Box<Found> {
        Box::new(Found { root, states: root, story: format!("{}, {story}", self.subject.name), wrong })
    }

    /// Flips bits of every byte of the files selected by `of`: all eight, or one.
    ///
    /// # Errors
    /// [`Found`] for the first case that ends wrong.
    pub fn flips(&self, sweep: Sweep, of: &dyn Fn(&str) -> bool) -> Result<Outcomes, Box<Found>> {
        let mut outcomes = Outcomes::default();
        for name in self.names().iter().filter(|name| of(name)) {
            let mut bytes = self.disk.contents(name).unwrap_or_default();
            for at in 0..bytes.len() {
                for bit in sweep.bits(at) {
                    bytes[at] ^= 1 << bit;
                    let story = || format!("{name}: bit {bit} of byte {at} flipped");
                    self.case(&mut outcomes, &story, &[(name, Some(&bytes))])?;
                    bytes[at] ^= 1 << bit;
                }
            }
        }
        Ok(outcomes)
    }

    /// Cuts files to shorter lengths, all or some, and appends garbage.
    ///
    /// # Errors
    /// [`Found`] for the first case that ends wrong.
    pub fn lengths(&self, sweep: Sweep) -> Result<Outcomes, Box<Found>> {
        let mut outcomes = Outcomes::default();
        let mut random = Random::new(1);
        for name in self.names() {
            let bytes = self.disk.contents(&name).unwrap_or_default();
            for length in sweep.cuts(bytes.len()) {
                let story = || format!("{name}: cut to {length} bytes");
                self.case(&mut outcomes, &story, &[(&name, Some(&bytes[..length]))])?;
            }
            for more in [1, 2, 7, 44, 511, 512, 4095, 4096, 4097, 8192, 100_000] {
                for zeros in [true, false] {
                    let garbage = (0..more).map(|_| if zeros { 0 } else { random.bits() as u8 });
                    let longer: Vec<u8> = bytes.iter().copied().chain(garbage).collect();
                    let story = || format!("{name}: {more} bytes more, zeros {zeros}");
                    self.case(&mut outcomes, &story, &[(&name, Some(&longer))])?;
                }
            }
        }
        Ok(outcomes)
    }

    /// Swaps any two files, copies one over the other, and deletes each one and each two.
    ///
    /// # Errors
    /// [`Found`] for the first case that ends wrong.
    pub fn mix_ups(&self) -> Result<Outcomes, Box<Found>> {
        let mut outcomes = Outcomes::default();
        let names = self.names();
        for (index, one) in names.iter().enumerate() {
            let mine = self.disk.contents(one).unwrap_or_default();
            self.case(&mut outcomes, &|| format!("{one} deleted"), &[(one, None)])?;
            for other in &names[index + 1..] {
                let theirs = self.disk.contents(other).unwrap_or_default();
                let fault = |what: &str| format!("{one} and {other}: {what}");
                let all: [(&str, &Changes<'_>); 3] = [
                    ("swapped", &[(one, Some(&theirs)), (other, Some(&mine))]),
                    ("the second in place of the first", &[(one, Some(&theirs))]),
                    ("the first in place of the second", &[(other, Some(&mine))]),
                ];
                for (what, changes) in all {
                    self.case(&mut outcomes, &|| fault(what), changes)?;
                }
            }
        }
        Ok(outcomes)
    }

    /// Replaces each file by the file of the same name from another folder.
    ///
    /// # Errors
    /// [`Found`] for the first case that ends wrong.
    pub fn replacements(&self, others: &[SimulatedStorage]) -> Result<Outcomes, Box<Found>> {
        let mut outcomes = Outcomes::default();
        for (number, other) in others.iter().enumerate() {
            for name in self.names() {
                let mine = self.disk.contents(&name);
                if let Some(theirs) = other.contents(&name).filter(|theirs| Some(theirs) != mine.as_ref()) {
                    let story = || format!("{name} of folder {number}");
                    self.case(&mut outcomes, &story, &[(&name, Some(&theirs))])?;
                }
            }
        }
        Ok(outcomes)
    }
}
