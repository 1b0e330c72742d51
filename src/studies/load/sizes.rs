//! Classes of sizes of jobs. The size is the number of tasks, or of processors in a log.

/// The largest size of each class, and its name.
pub(in crate::studies) const CLASSES: [(u64, &str); 7] = [
    (1, "1"),
    (4, "2-4"),
    (16, "5-16"),
    (64, "17-64"),
    (256, "65-256"),
    (1024, "257-1024"),
    (u64::MAX, "1025+"),
];

/// The class of a size: its position and its name.
pub fn size_class(size: u64) -> (usize, &'static str) {
    let class = CLASSES.iter().position(|class| size <= class.0);
    let place = class.expect("the last class has no bound");
    (place, CLASSES[place].1)
}
