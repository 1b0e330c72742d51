//! The columns of an accounting log besides its times, in the order of the schema.

use super::status_of;
use super::times::AttemptTimes;
use crate::sources::rows::Cell;

/// The columns of a job besides its times.
#[derive(Default)]
pub(in crate::sources) struct Accounted<'a> {
    pub account: Option<&'a str>,
    pub group: Option<&'a str>,
    pub title: Option<&'a str>,
    pub queue: Option<&'a str>,
    pub qos: Option<&'a str>,
    pub cluster: Option<&'a str>,
    pub state: Option<&'a str>,
    pub end_reason: Option<&'a str>,
    pub exit_code: Option<&'a str>,
    pub node_count: Option<i32>,
    pub nodes: Option<&'a str>,
    pub processors: Option<i32>,
    pub requested_processors: Option<i32>,
    pub limit_us: Option<i64>,
    /// The mean per processor.
    pub cpu_time_us: Option<i64>,
    /// KiB per processor.
    pub used_memory: Option<f32>,
    pub requested_memory: Option<f32>,
    pub gpus: Option<f32>,
    pub gpu_model: Option<&'a str>,
}

impl<'a> Accounted<'a> {
    /// The cells of these columns.
    pub(in crate::sources) fn cells(self, times: &AttemptTimes) -> Vec<Cell<'a>> {
        vec![
            self.account.or(self.group).into(),
            self.title.into(),
            self.queue.into(),
            self.queue.into(),
            times.life.end.and_then(|(_, event)| status_of(event)).into(),
            times.wait_us.into(),
            times.run_us.into(),
            self.processors.into(),
            self.requested_processors.into(),
            self.limit_us.into(),
            self.cpu_time_us.into(),
            self.used_memory.into(),
            self.requested_memory.into(),
            self.state.into(),
            self.end_reason.into(),
            self.exit_code.into(),
            self.account.into(),
            self.group.into(),
            self.qos.into(),
            self.cluster.into(),
            self.node_count.into(),
            self.nodes.into(),
            self.gpus.into(),
            self.gpu_model.into(),
        ]
    }
}
