//! The form of a study in the portal.

/// The content of a form in addition to the flags of a command.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The question that the command answers.
    pub question: &'static str,
    /// The flags that come first, without `--`; the others are hidden at first. Empty if the form
    /// has its own fields.
    pub first: &'static [&'static str],
}
