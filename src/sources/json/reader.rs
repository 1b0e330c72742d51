//! Reads objects from blocks of text, and makes rows of them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::envelope::{Envelope, is_list};
use super::objects::Objects;
use super::{ObjectFormat, without_mark};
use crate::sources::blocks::TextBlock;
use crate::sources::part::{HandOut, Notes, PartParser};
use crate::sources::records::Fault;
use crate::sources::reject::{Reject, RejectReason, reject_text};
use crate::sources::rows::RowBlock;

/// Reads the objects of a file.
#[derive(Default)]
pub(in crate::sources) struct ObjectReader {
    /// The state of the list around the objects, if there is one.
    envelope: Option<Envelope>,
    objects: Objects,
    last_line: u64,
}

impl ObjectReader {
    /// A reader of a file that starts with `begin`: a list, or objects.
    pub(in crate::sources) fn of(begin: &[u8]) -> Self {
        Self { envelope: is_list(begin).then(Envelope::new), ..Self::default() }
    }

    /// Calls `take` with each object that ends in a block; faults become rejects. `first_line` is
    /// the number of the first line.
    pub(in crate::sources) fn each(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        mut take: impl FnMut(&[u8], &mut RowBlock) -> Result<(), Fault>,
    ) {
        rows.clear();
        if text.begins_file() && 0 < self.last_line {
            // A file with lists may follow one with lines, and the reverse.
            self.finish(rows);
            *self = Self::of(text.text());
        }
        let begins = text.begins_file() || first_line == 1;
        rows.line_count = memchr::memchr_iter(b'\n', text.text()).count() as u64;
        self.last_line = (first_line + rows.line_count).saturating_sub(1).max(1);
        let text = if begins { without_mark(text.text()) } else { text.text() };
        let items = self.envelope.as_mut().map(|list| list.strip(text));
        let text = items.as_deref().unwrap_or(text);
        self.objects.feed(text, first_line, &mut |line, piece| {
            let (raw, fault) = match piece {
                Ok(object) => (object, take(object, rows).err()),
                Err((junk, reason)) => (junk, Some(("", reason))),
            };
            if let Some((column, reason)) = fault {
                rows.rejects.push(Reject { line, column, reason, text: reject_text(raw) });
            }
        });
    }

    /// Adds a reject for an object or a list that is open at the end of the file.
    pub(in crate::sources) fn finish(&self, rows: &mut RowBlock) {
        let is_open = self.envelope.as_ref().is_some_and(Envelope::is_open);
        let cut = self.objects.unfinished().or(is_open.then_some((self.last_line, &[][..])));
        if let Some((line, raw)) = cut {
            let (column, reason) = ("", RejectReason::BadValue);
            rows.rejects.push(Reject { line, column, reason, text: reject_text(raw) });
        }
    }
}

/// Parses the blocks of a file of objects.
pub(in crate::sources) struct ObjectParser<F> {
    pub objects: ObjectReader,
    pub format: F,
}

impl<F: ObjectFormat> PartParser for ObjectParser<F> {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) {
        let format = &mut self.format;
        let take = |object: &[u8], rows: &mut RowBlock| format.object(object, rows, hand_out);
        self.objects.each(text, first_line, rows, take);
        if !self.format.has_rejects() {
            rows.rejects.clear();
        }
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        if self.format.has_rejects() {
            self.objects.finish(rows);
        }
        self.format.end(rows, hand_out);
    }

    fn notes(&mut self) -> Notes {
        self.format.notes()
    }
}

/// Calls `take` with each item of a list within an object; null is an empty list. If `take` returns
/// an error, the whole object cannot be read.
pub(in crate::sources) fn each_item<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    take: impl FnMut(T) -> Result<(), &'static str>,
) -> Result<(), D::Error> {
    struct Items<T, F>(F, PhantomData<T>);

    impl<'de, T, F> Visitor<'de> for Items<T, F>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<(), &'static str>,
    {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
            while let Some(item) = items.next_element()? {
                (self.0)(item).map_err(A::Error::custom)?;
            }
            Ok(())
        }
    }

    deserializer.deserialize_any(Items(take, PhantomData))
}
