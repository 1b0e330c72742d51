//! What the columns of a map mean, and their units.

macro_rules! fields {
    ($($name:ident $text:literal $kind:ident $meaning:literal,)+) => {
        /// The meaning of a column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::sources) enum Field {
            $($name,)+
        }

        impl Field {
            /// All meanings, each with its name in a map, its kind and its description.
            pub(in crate::sources) const ALL: &'static [(Self, &'static str, Kind, &'static str)] =
                &[$((Self::$name, $text, Kind::$kind, $meaning),)+];

            pub(in crate::sources) const fn name(self) -> &'static str {
                Self::ALL[self as usize].1
            }

            pub(in crate::sources) const fn kind(self) -> Kind {
                Self::ALL[self as usize].2
            }
        }
    };
}

fields! {
    Job "job" Text "id of the job, by default the line number; several rows of a job are its attempts",
    User "user" Text "who submitted it",
    Submit "submit" Time "when it was submitted; by default start minus wait, or start",
    Start "start" Time "when it began; by default end minus run, or submit and wait",
    End "end" Time "when it ended; by default start and run",
    Run "run" Span "how long it ran",
    Wait "wait" Span "how long it waited",
    State "state" Text "its state, as [states] explains it; without it, each job that ended counts as finished",
    Cpus "cpus" Cores "CPUs allocated, or else requested",
    Memory "memory" Memory "memory allocated, or else requested",
    Gpus "gpus" Gpus "GPUs allocated, or else requested",
    GpuModel "gpu_model" Text "model of its GPUs",
    TimeLimit "time_limit" Span "longest time that it was allowed to run",
    CpuTime "cpu_time" Span "CPU time that it used, summed over its CPUs",
    UsedMemory "used_memory" Memory "memory that it used",
    Name "name" Text "name of the program or job",
    Account "account" Text "account that it was charged to",
    Group "group" Text "group of the user",
    Queue "queue" Text "queue or partition",
    Qos "qos" Text "quality of service",
    Cluster "cluster" Text "cluster",
    Priority "priority" Count "priority",
    Nodes "nodes" Count "number of machines",
    Machines "machines" Text "names of the machines, `n1` or `n[1-3,7]`",
    ExitCode "exit_code" Text "exit code",
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Kind {
    Text,
    Time,
    Span,
    Cores,
    Memory,
    Gpus,
    Count,
}

impl Kind {
    /// The units of its numbers, each with its factor to µs, KiB, cores or GPUs.
    pub(in crate::sources) const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Text | Self::Count => &[],
            Self::Time | Self::Span => {
                &[("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7), ("h", 3.6e9), ("d", 8.64e10)]
            }
            Self::Cores => &[("cores", 1.0), ("milli-cores", 0.001), ("percent", 0.01)],
            Self::Gpus => &[("gpus", 1.0), ("milli-gpus", 0.001), ("percent", 0.01)],
            Self::Memory => &[
                ("bytes", 1.0 / 1024.0),
                ("KB", 1e3 / 1024.0),
                ("MB", 1e6 / 1024.0),
                ("GB", 1e9 / 1024.0),
                ("TB", 1e12 / 1024.0),
                ("KiB", 1.0),
                ("MiB", 1024.0),
                ("GiB", 1_048_576.0),
                ("TiB", 1_073_741_824.0),
            ],
        }
    }

    /// The factor if the map names no unit; `None` if it must name one.
    pub(super) const fn usual(self) -> Option<f64> {
        match self {
            Self::Span | Self::Memory => None,
            Self::Text | Self::Count | Self::Time | Self::Cores | Self::Gpus => Some(1.0),
        }
    }
}
