//! Converts a custom format, with lines `job submit_s start_s end_s user`, into a lake.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use jobfate::prelude::*;

struct Lines(u32);

impl PartParser for Lines {
    fn parse(&mut self, text: &TextBlock, first: u64, rows: &mut RowBlock, _: &mut HandOut<'_>) {
        rows.clear();
        for (line, raw) in (first..).zip(text.text().split(|byte| *byte == b'\n')) {
            let words: Vec<&str> = std::str::from_utf8(raw).unwrap_or("").split(' ').collect();
            rows.line_count += u64::from(!raw.is_empty());
            let read = |word: &&str| word.parse::<u32>().map(i64::from).ok();
            let numbers: Vec<i64> = words.iter().take(4).map_while(read).collect();
            let (&[id, submit, start, end], &[_, _, _, _, user]) = (&*numbers, &*words) else {
                if !raw.is_empty() {
                    rows.reject(line, "", RejectReason::BadValue, raw);
                }
                continue;
            };
            let kinds = [EventType::Submit, EventType::Schedule, EventType::Finish];
            for ((event, time), kind) in (0..).zip([submit, start, end]).zip(kinds) {
                let cells = [
                    ("time_us", Cell::I64(time * SECOND)),
                    ("job_id", Cell::I64(id)),
                    ("task_index", Cell::I32(0)),
                    ("priority", Cell::I32(0)),
                    ("event_type", Cell::I32(kind as i32)),
                    ("user", Cell::Text(user)),
                ];
                let cells: Vec<_> =
                    cells.into_iter().filter(|(name, _)| rows.has_column(name)).collect();
                if rows.add(row_id(self.0, line * 4 + event), &cells).is_err() {
                    rows.reject(line, "", RejectReason::BadValue, raw);
                }
            }
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("jobfate-own-source-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let log = folder.join("jobs.log");
    std::fs::write(&log, "1 5 10 70 ann\n2 6 70 100 ben\n3 7 80 90 ann\n")?;
    let files = [(Table::JobEvents, log.clone()), (Table::TaskEvents, log)];
    let parser = |part: OwnPart<'_>| -> Box<dyn PartParser> { Box::new(Lines(part.part)) };
    let done = Ingest::own(Source::Google2011, files, parser)?.into(folder.join("lake")).run()?;
    done.failed.into_iter().next().map_or(Ok(()), |failed| Err(failed.error))?;
    let lake = done.lake.ok_or("nothing was stored")?;
    println!("{:?}", lake.study().cpu(Cpu::Slots).ledger()?.rows[0]);
    Ok(std::fs::remove_dir_all(folder)?)
}
