//! The style and the script that all pages share.

use crate::charts::dark;

/// The style of all pages.
pub(crate) fn style() -> String {
    format!("{}{}", include_str!("style.css"), dark::style())
}

/// The script that makes tables and charts interactive.
pub(crate) const SCRIPT: &str = concat!(
    include_str!("script/tables.js"),
    "\n",
    include_str!("script/window.js"),
    "\n",
    include_str!("script/values.js"),
    "\n",
    include_str!("script/what_if.js"),
    "\n",
    include_str!("script/fading.js"),
);
