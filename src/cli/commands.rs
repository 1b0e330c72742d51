//! Makes the command line, its checks and its dispatch from the list of commands.
//!
//! In: the list. Out: for each command its output form, the lakes that it reads, and the function
//! that runs it. Each line of the list names the flags of a command, its output, and its function.

/// The output form of a command. `plain` and `reads` (which reads one lake) have no table. `answer`
/// has the flags that all answers share. `own` means that the command defines its form itself.
/// `results` reads no lake.
macro_rules! form {
    (plain $args:ident) => {
        None
    };
    (reads $args:ident) => {
        None
    };
    (answer $args:ident) => {
        Some($args.answer.form())
    };
    (own $args:ident) => {
        Some($args.form())
    };
    (results $args:ident) => {
        Some($args.form())
    };
}

macro_rules! lakes {
    (plain $args:ident) => {
        Vec::new()
    };
    (reads $args:ident) => {
        vec![$args.lake.clone()]
    };
    (answer $args:ident) => {
        vec![$args.answer.lake.clone()]
    };
    (own $args:ident) => {
        $args.lakes()
    };
    (results $args:ident) => {
        Vec::new()
    };
}

macro_rules! commands {
    ($($(#[$when:meta])* $name:ident($args:ty): $how:ident $run:path,)+) => {
        /// A command with its flags.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$when])* $name($args),)+
        }

        impl Command {
            /// The form of the answer, if the command has one.
            #[expect(unused_variables, reason = "not every command has flags of answers")]
            fn form(&self) -> Option<Form> {
                match self {
                    $($(#[$when])* Self::$name(args) => form!($how args),)+
                }
            }

            /// The lakes that the command reads.
            #[expect(unused_variables, reason = "not every command reads a lake")]
            pub(crate) fn lakes(&self) -> Vec<PathBuf> {
                match self {
                    $($(#[$when])* Self::$name(args) => lakes!($how args),)+
                }
            }

            /// Runs the command.
            pub(crate) fn run(&self) -> Result<()> {
                if let Some(form) = self.form() {
                    console::check_stdout()?;
                    form.check()?;
                }
                match self {
                    $($(#[$when])* Self::$name(args) => $run(args),)+
                }
            }
        }
    };
}
