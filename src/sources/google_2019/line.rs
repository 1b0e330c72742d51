//! The fields of an object of any table.

use super::super::json::value::{Raw, or_default};

/// The longest object, bytes; a parsed object takes many times its length.
pub(super) const LINE_MAX: usize = 1 << 20;

/// CPU and memory.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Resources<'a> {
    pub(super) cpus: Raw<'a>,
    pub(super) memory: Raw<'a>,
}

/// A constraint on a machine.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Constraint<'a> {
    pub(super) name: Raw<'a>,
    pub(super) value: Raw<'a>,
    pub(super) relation: Raw<'a>,
}

/// A line of any table; the fields of other tables stay missing.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Line<'a> {
    pub(super) time: Raw<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) collection_id: Raw<'a>,
    pub(super) scheduling_class: Raw<'a>,
    pub(super) missing_type: Raw<'a>,
    pub(super) collection_type: Raw<'a>,
    pub(super) priority: Raw<'a>,
    pub(super) alloc_collection_id: Raw<'a>,
    pub(super) user: Raw<'a>,
    pub(super) collection_name: Raw<'a>,
    pub(super) collection_logical_name: Raw<'a>,
    pub(super) parent_collection_id: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) start_after_collection_ids: Vec<Raw<'a>>,
    pub(super) max_per_machine: Raw<'a>,
    pub(super) max_per_switch: Raw<'a>,
    pub(super) vertical_scaling: Raw<'a>,
    pub(super) scheduler: Raw<'a>,
    pub(super) instance_index: Raw<'a>,
    pub(super) machine_id: Raw<'a>,
    pub(super) alloc_instance_index: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) resource_request: Resources<'a>,
    #[serde(deserialize_with = "or_default", alias = "constraints")]
    pub(super) constraint: Vec<Constraint<'a>>,
    pub(super) start_time: Raw<'a>,
    pub(super) end_time: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) average_usage: Resources<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) maximum_usage: Resources<'a>,
    #[serde(deserialize_with = "or_default", alias = "random_sampled_usage")]
    pub(super) random_sample_usage: Resources<'a>,
    pub(super) assigned_memory: Raw<'a>,
    pub(super) page_cache_memory: Raw<'a>,
    pub(super) cycles_per_instruction: Raw<'a>,
    pub(super) memory_accesses_per_instruction: Raw<'a>,
    pub(super) sample_rate: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) cpu_usage_distribution: Vec<Raw<'a>>,
    #[serde(deserialize_with = "or_default")]
    pub(super) tail_cpu_usage_distribution: Vec<Raw<'a>>,
    pub(super) switch_id: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) capacity: Resources<'a>,
    pub(super) platform_id: Raw<'a>,
    pub(super) missing_data_reason: Raw<'a>,
    pub(super) name: Raw<'a>,
    pub(super) value: Raw<'a>,
    pub(super) deleted: Raw<'a>,
}
