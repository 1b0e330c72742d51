//! What the portal shows of a study.

/// What a form shows beside the flags of a command.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The question that the command answers.
    pub question: &'static str,
    /// The flags that come first, without `--`; the others are folded. Empty if the form has its
    /// own fields.
    pub first: &'static [&'static str],
}
