//! Stores items on disk as sorted runs and merges them, so that any trace needs little memory.
//!
//! In: the items of one bucket after another, each a sorted run. Out: all items in order. The file
//! has no name, so it disappears with the process, however the process ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::items::{Item, WORDS};

/// The number of items that are read from a run at a time.
const BLOCK: usize = 64;

/// Bytes of an item.
const BYTES: usize = WORDS * 8;

/// Sorted runs in one file.
pub(super) struct Spill {
    file: File,
    /// The start of each run, and its number of items.
    runs: Vec<(u64, u64)>,
    bytes: u64,
}

impl Spill {
    /// Creates a file without a name in a folder.
    pub(super) fn within(folder: &std::path::Path) -> io::Result<Self> {
        let path = folder.join("items");
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        // On Unix, an open file stays usable after its name is removed. On other systems, the file
        // is removed with the folder.
        let _ = std::fs::remove_file(&path);
        Ok(Self { file, runs: Vec::new(), bytes: 0 })
    }

    /// The number of items.
    pub(super) fn len(&self) -> u64 {
        self.runs.iter().map(|(_, count)| count).sum()
    }

    /// Adds the items of a bucket.
    pub(super) fn push(&mut self, items: &mut [Item]) -> io::Result<()> {
        items.sort_unstable_by_key(Item::key);
        let mut to = io::BufWriter::new(&mut self.file);
        for item in &*items {
            for word in item.words() {
                to.write_all(&word.to_le_bytes())?;
            }
        }
        to.flush()?;
        drop(to);
        self.runs.push((self.bytes, items.len() as u64));
        self.bytes += (items.len() * BYTES) as u64;
        Ok(())
    }

    /// Passes the items to a function, one bucket after another, in order within each bucket.
    pub(super) fn for_each_run<E: From<io::Error>>(
        &self,
        mut visit: impl FnMut(&[Item]) -> Result<(), E>,
    ) -> Result<(), E> {
        for &run in &self.runs {
            let mut run = Run::of(run);
            let mut items = Vec::new();
            while let Some(item) = run.next(&self.file)? {
                items.push(item);
            }
            visit(&items)?;
        }
        Ok(())
    }

    /// Passes all items to a function, in order.
    pub(super) fn for_each<E: From<io::Error>>(
        &self,
        mut visit: impl FnMut(&Item) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut runs: Vec<Run> = self.runs.iter().map(|&run| Run::of(run)).collect();
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(item) = run.next(&self.file)? {
                heap.push(Reverse((item.key(), number)));
                run.head = Some(item);
            }
        }
        while let Some(Reverse((_, number))) = heap.pop() {
            let run = &mut runs[number];
            let item = run.head.take().expect("a run on the heap has a head");
            visit(&item)?;
            if let Some(next) = run.next(&self.file)? {
                heap.push(Reverse((next.key(), number)));
                run.head = Some(next);
            }
        }
        Ok(())
    }
}

/// A run that is read block by block.
struct Run {
    at: u64,
    left: u64,
    block: Vec<u8>,
    used: usize,
    head: Option<Item>,
}

impl Run {
    const fn of((at, left): (u64, u64)) -> Self {
        Self { at, left, block: Vec::new(), used: 0, head: None }
    }

    fn next(&mut self, mut file: &File) -> io::Result<Option<Item>> {
        if self.used == self.block.len() {
            let count = usize::try_from(self.left).unwrap_or(BLOCK).min(BLOCK);
            if count == 0 {
                return Ok(None);
            }
            self.block.resize(count * BYTES, 0);
            file.seek(SeekFrom::Start(self.at))?;
            file.read_exact(&mut self.block)?;
            (self.used, self.left) = (0, self.left - count as u64);
            self.at += self.block.len() as u64;
        }
        let bytes = &self.block[self.used..self.used + BYTES];
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        self.used += BYTES;
        Ok(Some(Item::of_words(&words)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::items::tests::item;
    use super::*;

    proptest! {
        /// Promise: every item, from any bucket, comes back once and in order.
        #[test]
        fn items_come_back_in_order(runs in prop::collection::vec(
            prop::collection::vec((0_i64..50, -9_i64..9), 0..200), 0..6)) {
            let folder = tempfile::tempdir().unwrap();
            let mut spill = Spill::within(folder.path()).unwrap();
            let mut all = Vec::new();
            for run in runs {
                let mut items: Vec<Item> = run.into_iter().map(|(at, job)| item(at, job)).collect();
                all.extend(items.iter().copied());
                spill.push(&mut items).unwrap();
            }
            let mut found = Vec::new();
            spill
                .for_each(|item| {
                    found.push(*item);
                    Ok::<(), io::Error>(())
                })
                .unwrap();
            all.sort_by_key(Item::key);
            prop_assert_eq!(found, all);
        }
    }
}
