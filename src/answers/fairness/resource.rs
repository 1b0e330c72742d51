//! Renames tables and JSON about CPU time if memory or GPUs were charged.
//!
//! In: a table or a value with the names of CPU time. Out: the same with the names of the charged
//! resource. For GPUs, only `peak_cores` becomes `peak_gpus`. All other columns keep the names that
//! they have for CPU time, but are in the unit of GPU time.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use arrow::record_batch::RecordBatch;
use serde_json::Value;

use crate::studies::meter::Resource;

/// Parts of names, and their replacements if memory was charged.
const NAMES: [(&str, &str); 3] = [
    ("cpu_s", "memory_s"),
    ("peak_cores", "peak_memory"),
    ("closed_with_job_cpu", "closed_with_job_memory"),
];

/// The name of a column or key for a resource.
fn name_of(name: &str, resource: Resource) -> String {
    match resource {
        Resource::Cpu => return name.to_owned(),
        Resource::Gpu => return name.replace("peak_cores", "peak_gpus"),
        Resource::Memory => {}
    }
    let known = NAMES.iter().find(|(cpu, _)| name.contains(cpu));
    known.map_or_else(|| name.to_owned(), |(cpu, memory)| name.replace(cpu, memory))
}

/// A sentence in the words of a resource.
fn sentence(text: &str, resource: Resource) -> String {
    if resource == Resource::Gpu {
        let text = name_of(text, resource).replace("CPU time", "GPU time");
        return text.replace("CPU in use", "GPUs in use").replace("CPU of the", "GPUs of the");
    }
    let text = text.replace("CPU time", "Memory time").replace("all Memory", "all memory");
    NAMES.iter().fold(text, |text, (cpu, memory)| text.replace(cpu, memory))
}

/// A table with the names of its resource.
pub(super) fn table(batch: RecordBatch, resource: Resource) -> RecordBatch {
    if resource == Resource::Cpu {
        return batch;
    }
    let renamed = |field: &Arc<Field>| {
        let mut field = field.as_ref().clone().with_name(name_of(field.name(), resource));
        let said =
            field.metadata().iter().map(|(key, text)| (key.clone(), sentence(text, resource)));
        let said: Vec<(String, String)> = said.collect();
        for (key, text) in said {
            field.metadata_mut().insert(key, text);
        }
        field
    };
    let fields: Vec<Field> = batch.schema().fields().iter().map(renamed).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec())
        .expect("columns and types stay")
}

/// A value with the names of its resource.
pub(super) fn json(value: Value, resource: Resource) -> Value {
    if resource == Resource::Cpu {
        return value;
    }
    match value {
        Value::Object(object) => Value::Object(
            object
                .into_iter()
                .map(|(key, value)| {
                    let is_of_shares = key == "of" || key == "numerators";
                    let value = if is_of_shares {
                        sentences(value, resource)
                    } else {
                        json(value, resource)
                    };
                    (name_of(&key, resource), value)
                })
                .collect(),
        ),
        Value::Array(values) => values.into_iter().map(|value| json(value, resource)).collect(),
        other => other,
    }
}

/// The texts of an object, in the words of its resource.
fn sentences(value: Value, resource: Resource) -> Value {
    match value {
        Value::Object(object) => Value::Object(
            object
                .into_iter()
                .map(|(key, value)| (name_of(&key, resource), sentences(value, resource)))
                .collect(),
        ),
        Value::String(text) => Value::String(sentence(&text, resource)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn memory_has_names_of_its_own_and_gpus_have_words() {
        let cpu = value!({"total_cpu_s": 1, "users": [{"user": "cpu_s", "ran_cpu_s": 2}], "of": {
            "share": "total_cpu_s: all CPU time charged in the span"}});
        assert_eq!(json(cpu.clone(), Resource::Cpu), cpu);
        let expected = value!({"total_memory_s": 1, "users": [{"user": "cpu_s", "ran_memory_s": 2}],
            "of": {"share": "total_memory_s: all memory time charged in the span"}});
        assert_eq!(json(cpu.clone(), Resource::Memory), expected);
        let expected = value!({"total_cpu_s": 1, "users": [{"user": "cpu_s", "ran_cpu_s": 2}],
            "of": {"share": "total_cpu_s: all GPU time charged in the span"}});
        assert_eq!(json(cpu, Resource::Gpu), expected);
    }
}
