//! Who belongs to which account, with which shares.
//!
//! In: a text file of paths with shares, or the groups of the log. Out: a [`Tree`] whose leaves
//! are the users of a history. A user whom the file does not name is put under `(others)`, and
//! counted.
//!
//! ```text
//! # account or user      shares
//! physics                60
//! physics/alice          1
//! physics/bob            parent      # has the account's usage and shares (FairShare=parent)
//! biology                40
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::history::Person;
use super::{FairnessError, read_text};

/// A line without its comment, which begins with a `#` that nothing but space stands before: names
/// may hold one.
pub(super) fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let at = line.match_indices('#').map(|(at, _)| at).find(is_comment);
    line[..at.unwrap_or(line.len())].trim()
}

/// The account of users whom the file does not name.
pub const OTHERS: &str = "(others)";

/// An account or a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, without those above it.
    pub name: String,
    /// The account it belongs to; `None` for the root, which is node 0.
    pub parent: Option<usize>,
    /// What it is entitled to among its siblings.
    pub shares: Shares,
    /// Accounts and users below it, in the order of the file.
    pub children: Vec<usize>,
    /// The user it stands for, as a position among the people.
    pub who: Option<usize>,
}

/// What a node is entitled to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shares {
    /// So many, compared with those of its siblings.
    Own(f64),
    /// Those of its account.
    Parent,
}

impl Shares {
    /// The number; 1 for [`Shares::Parent`].
    pub fn number(self) -> f64 {
        match self {
            Self::Own(shares) => shares,
            Self::Parent => 1.0,
        }
    }
}

/// Accounts with their users.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes; the root first, a parent before its children.
    pub nodes: Vec<Node>,
    /// The leaf of each user.
    pub leaf_of: Vec<usize>,
    /// Users whom no file named.
    pub unlisted: usize,
    /// Whether somebody wrote down who is entitled to what.
    pub is_given: bool,
}

impl Tree {
    fn with_root(people: usize) -> Self {
        let root = Node {
            name: String::new(),
            parent: None,
            shares: Shares::Own(1.0),
            children: Vec::new(),
            who: None,
        };
        Self { nodes: vec![root], leaf_of: vec![0; people], unlisted: 0, is_given: false }
    }

    fn add(&mut self, parent: usize, name: &str, shares: Shares, who: Option<usize>) -> usize {
        let idx = self.nodes.len();
        let name = name.to_owned();
        self.nodes.push(Node { name, parent: Some(parent), shares, children: Vec::new(), who });
        self.nodes[parent].children.push(idx);
        if let Some(who) = who {
            self.leaf_of[who] = idx;
        }
        idx
    }

    /// Everybody directly below the root with one share.
    pub fn flat(people: &[Person]) -> Self {
        let mut tree = Self::with_root(people.len());
        for (who, person) in people.iter().enumerate() {
            tree.add(0, &person.name, Shares::Own(1.0), Some(who));
        }
        tree
    }

    /// One account per group of the log, one share each; users without a group below the root.
    pub fn of_groups(people: &[Person]) -> Self {
        let mut tree = Self::with_root(people.len());
        let mut accounts: BTreeMap<&str, usize> = BTreeMap::new();
        for group in people.iter().filter_map(|person| person.group.as_deref()) {
            accounts.entry(group).or_insert(0);
        }
        for (group, account) in &mut accounts {
            *account = tree.add(0, group, Shares::Own(1.0), None);
        }
        for (who, person) in people.iter().enumerate() {
            let account = person.group.as_deref().map_or(0, |group| accounts[group]);
            tree.add(account, &person.name, Shares::Own(1.0), Some(who));
        }
        tree
    }

    /// Reads a file of accounts for these people.
    pub fn load(path: &Path, people: &[Person]) -> Result<Self, FairnessError> {
        let text = read_text(path)?;
        Self::read(&text, people).map_err(|(line, problem)| FairnessError::Line {
            path: path.to_owned(),
            line,
            problem,
        })
    }

    pub(super) fn read(text: &str, people: &[Person]) -> Result<Self, (usize, String)> {
        let mut tree = Self { is_given: true, ..Self::with_root(people.len()) };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        // The line of each node; the root has none.
        let mut lines = vec![0];
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            let fail = |problem: String| (number, problem);
            let Some((path, shares)) = line.rsplit_once(char::is_whitespace) else {
                return Err(fail(format!("`{line}` is not of the form `ACCOUNT/USER SHARES`")));
            };
            let path = path.trim();
            let shares = match shares.parse::<f64>() {
                _ if shares == "parent" => Shares::Parent,
                Ok(number) if number.is_finite() && 0.0 <= number => Shares::Own(number),
                _ => {
                    let problem = format!("`{shares}` is no number of shares, nor `parent`");
                    return Err(fail(problem));
                }
            };
            // The longest account above it; the rest is the name, slashes in it included.
            let found = path
                .rmatch_indices('/')
                .find_map(|(at, _)| Some((*known.get(&path[..at])?, &path[at + 1..])));
            let is_user = || people.iter().any(|person| person.name == path);
            let (parent, name) = match (found, path.rsplit_once('/')) {
                (Some(found), _) => found,
                (None, Some((above, _))) if !is_user() => {
                    return Err(fail(format!("account `{above}` is not named above")));
                }
                (None, _) => (0, path),
            };
            let idx = tree.add(parent, name, shares, None);
            lines.push(number);
            if known.insert(path.to_owned(), idx).is_some() {
                return Err(fail(format!("`{path}` stands here twice")));
            }
        }
        tree.seat(people).map_err(|(leaf, problem)| (lines[leaf], problem))?;
        Ok(tree)
    }

    /// Puts each person on the leaf of that name; an error is that of a leaf.
    fn seat(&mut self, people: &[Person]) -> Result<(), (usize, String)> {
        let leaves: Vec<usize> =
            (1..self.nodes.len()).filter(|&idx| self.nodes[idx].children.is_empty()).collect();
        let mut others = None;
        for (who, person) in people.iter().enumerate() {
            let mut own = leaves.iter().filter(|&&leaf| self.nodes[leaf].name == person.name);
            match (own.next(), own.next()) {
                (Some(&leaf), None) => {
                    self.nodes[leaf].who = Some(who);
                    self.leaf_of[who] = leaf;
                }
                (Some(_), Some(&second)) => {
                    let problem = format!("user `{}` stands under two accounts", person.name);
                    return Err((second, problem));
                }
                (None, _) => {
                    let account =
                        *others.get_or_insert_with(|| self.add(0, OTHERS, Shares::Own(1.0), None));
                    self.add(account, &person.name, Shares::Own(1.0), Some(who));
                    self.unlisted += 1;
                }
            }
        }
        Ok(())
    }

    /// Usage of every node: that of its users and of the accounts below it.
    pub fn sums(&self, usage: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.nodes.len()];
        for idx in (0..self.nodes.len()).rev() {
            if let Some(who) = self.nodes[idx].who {
                sums[idx] += usage[who];
            }
            if let Some(parent) = self.nodes[idx].parent {
                sums[parent] += sums[idx];
            }
        }
        sums
    }

    /// Sum of the shares of a node's children, without those that take their account's.
    pub fn shares_below(&self, idx: usize) -> f64 {
        let own = |child: &usize| match self.nodes[*child].shares {
            Shares::Own(shares) => shares,
            Shares::Parent => 0.0,
        };
        self.nodes[idx].children.iter().map(own).sum()
    }

    /// The share of the whole that each user is entitled to: the product of the shares down the
    /// tree; 0 below an account without shares.
    pub fn entitlements(&self) -> Vec<f64> {
        let mut norm = vec![1.0; self.nodes.len()];
        for idx in 1..self.nodes.len() {
            let parent = self.nodes[idx].parent.expect("only the root has none");
            let below = self.shares_below(parent);
            norm[idx] = norm[parent]
                * match self.nodes[idx].shares {
                    Shares::Parent => 1.0,
                    Shares::Own(_) if below == 0.0 => 0.0,
                    Shares::Own(shares) => shares / below,
                };
        }
        self.leaf_of.iter().map(|&leaf| norm[leaf]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::{people, tree};

    #[test]
    fn entitlements_are_products_of_shares() {
        let tree = tree(
            "A 40\nA/B 30\nA/C 10\nD 60\nA/B/x 1\nA/C/y 3\nA/C/z 1\nD/v 1",
            &["v", "x", "y", "z"],
        );
        let found = tree.entitlements();
        for (found, expected) in found.iter().zip([0.6, 0.3, 0.075, 0.025]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert_eq!(tree.sums(&[1.0, 2.0, 4.0, 8.0])[0], 15.0);
        assert_eq!(tree.unlisted, 0);
    }

    #[test]
    fn an_unlisted_user_is_put_under_others() {
        let tree = tree("A 1\nA/x 1", &["x", "y"]);
        assert_eq!(tree.unlisted, 1);
        assert_eq!(tree.entitlements(), [0.5, 0.5]);
    }

    #[test]
    fn a_faulty_line_is_named() {
        let check = |text: &str, line: usize, problem: &str| {
            assert_eq!(Tree::read(text, &people(&["x"])), Err((line, problem.to_owned())));
        };
        check("# a\nA\n", 2, "`A` is not of the form `ACCOUNT/USER SHARES`");
        check("A -1", 1, "`-1` is no number of shares, nor `parent`");
        check("A/x 1", 1, "account `A` is not named above");
        check("A 1\nA 2", 2, "`A` stands here twice");
        check("A 1\nB 1\nA/x 1\nB/x 1\nB/y 1", 4, "user `x` stands under two accounts");
    }

    #[test]
    fn names_may_hold_slashes_spaces_and_hashes() {
        let names = ["a/b=", "#x", "y z", "c/d"];
        let tree = tree("A 1 # an account\nA/a/b= 1\nA/#x 2\nA/y z 1\nc/d 3", &names);
        assert_eq!(tree.unlisted, 0);
        assert_eq!(tree.entitlements(), [0.0625, 0.125, 0.0625, 0.75]);
    }

    #[test]
    fn groups_of_the_log_are_accounts() {
        let person = |name: &str, group: Option<&str>| Person {
            name: name.to_owned(),
            group: group.map(str::to_owned),
        };
        let tree = Tree::of_groups(&[
            person("a", Some("g")),
            person("b", Some("g")),
            person("c", Some("h")),
            person("d", None),
        ]);
        let third = 1.0 / 3.0;
        assert_eq!(tree.entitlements(), [third / 2.0, third / 2.0, third, third]);
    }
}
