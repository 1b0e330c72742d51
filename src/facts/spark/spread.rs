//! Computes answers without a query, by running this program on the workers of Spark.
//!
//! In: a question, as a file, and the number of tasks into which it is divided. Out: the output of
//! the program for each task. Spark starts the program once for each task (`TRANSFORM`), on any
//! free worker, and again on another one if that worker is lost.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::answers::batches;
use super::failure::failed;
use super::folder::Folder;
use super::program::Spark;
use super::script::quoted;
use crate::facts::FactError;
use crate::lake::Lake;

/// The command that a worker runs, followed by the file of the question.
pub const COMMAND: &str = "work";

/// The name of the question's file.
const QUESTION: &str = "question.json";

impl Spark {
    /// The lake as a folder that the workers see.
    ///
    /// # Errors
    /// The workers see it as something other than a folder.
    pub fn lake_folder(&self, lake: &Lake) -> Result<PathBuf, FactError> {
        let Some(seen) = &self.lake else {
            return std::path::absolute(&lake.path).map_err(|error| failed(error.to_string()));
        };
        let folder = seen.strip_prefix("file://").unwrap_or(seen);
        if folder.starts_with('/') {
            return Ok(PathBuf::from(folder));
        }
        Err(FactError::Spark {
            problem: format!("no query answers this, and `{seen}` is not a folder"),
            hint: "mount the lake on all workers, and give the folder as --spark-lake",
        })
    }

    /// The output of this program on the workers, for each task of a question.
    ///
    /// # Errors
    /// Spark or a worker fails.
    pub fn spread(
        &self,
        lake: &Lake,
        question: &str,
        tasks: u32,
    ) -> Result<Vec<Vec<u8>>, FactError> {
        let path = std::path::absolute(&lake.path).map_err(|error| failed(error.to_string()))?;
        let seen = self.lake_folder(lake)?;
        let program = match &self.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(|error| failed(error.to_string()))?,
        };
        self.find_master()?;
        let facts = Folder::create(&path)?;
        let put = |name: &str, text: &str| {
            let file = facts.0.join(name);
            let written = fs::write(&file, text);
            written.map_err(|error| failed(format!("{}: {error}", file.display()))).map(|()| file)
        };
        put(QUESTION, question)?;
        let seen = seen.join(facts.name());
        let file = put("parts.sql", &script(&program, &seen, tasks))?;
        self.start(&file)?;
        read(&facts.0.join("parts"), tasks)
    }
}

/// The whole input of Spark.
fn script(program: &Path, seen: &Path, tasks: u32) -> String {
    let words = [program.to_path_buf(), PathBuf::from(COMMAND), seen.join(QUESTION)];
    let words = words.map(|word| in_shell(&word.to_string_lossy()));
    let target = quoted(&format!("file://{}", seen.join("parts").display()));
    let format = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t'";
    let mut text = String::new();
    write!(
        text,
        "INSERT OVERWRITE DIRECTORY {target} USING parquet\n\
         SELECT TRANSFORM (id) {format}\n\
         USING {} AS (task BIGINT, part STRING) {format}\n\
         FROM (SELECT id FROM range(0, {tasks}, 1, {tasks}));\n",
        quoted(&words.join(" "))
    )
    .expect("writing to a string cannot fail");
    text
}

/// A text as one word of a shell command.
fn in_shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The output by task.
fn read(folder: &Path, tasks: u32) -> Result<Vec<Vec<u8>>, FactError> {
    let broken = |task: i64| failed(format!("a worker gave a broken answer for part {task}"));
    let mut parts: Vec<Option<Vec<u8>>> = vec![None; tasks as usize];
    for batch in batches(folder)? {
        let (ids, texts) = (batch.column(0), batch.column(1));
        let ids = ids.as_primitive_opt::<Int64Type>().ok_or_else(|| broken(-1))?;
        let texts = texts.as_string_opt::<i32>().ok_or_else(|| broken(-1))?;
        for (&task, text) in ids.values().iter().zip(texts) {
            let place = usize::try_from(task).ok().and_then(|task| parts.get_mut(task));
            let bytes = text.and_then(|text| STANDARD.decode(text).ok());
            *place.ok_or_else(|| broken(task))? = Some(bytes.ok_or_else(|| broken(task))?);
        }
    }
    (0..).zip(parts).map(|(task, part)| part.ok_or_else(|| broken(task))).collect()
}

/// The line that a worker prints for a task.
pub fn line_of(task: u32, part: &[u8]) -> String {
    format!("{task}\t{}\n", STANDARD.encode(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_blanks_and_quotes_stay_one_word() {
        let text = script(Path::new("/a b/it's"), Path::new("/l ake/.facts-1"), 3);
        assert!(
            text.contains("USING '\\'/a b/it\\'\\\\\\'\\'s\\' \\'work\\' \\'/l ake/"),
            "{text}"
        );
        assert!(text.contains("range(0, 3, 1, 3)"), "{text}");
    }
}
