//! The accounts of users, and their shares.
//!
//! In: a text file of paths with shares, or the groups of the log. Out: a [`Tree`] with users as
//! leaves, and its [`Standing`] in an interval. The accounts and users of a file exist from the
//! start. Without a file, each exists from its first submission on. A user who is not in the file
//! is put under `(others)` and counted.
//!
//! ```text
//! # account or user      shares
//! physics                60
//! physics/alice          1
//! physics/bob            parent      # has the account's usage and shares (FairShare=parent)
//! biology                40
//! ```
//!
//! An account with `parent` is dissolved, as in Slurm. For shares and for usage, its children count
//! as children of the next account above with its own shares.

use std::collections::BTreeMap;
use std::path::Path;

pub use super::site::Shares;
use super::site::{Association, associations};
use super::{FairnessError, read_text};

/// A user, or another entity by which usage is grouped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The group of the first submission in the log.
    pub group: Option<String>,
    /// The interval of the first submission. Before it, the user has no values and is not in an
    /// account.
    pub since: u32,
    /// The last time of use within the intervals, µs, regardless of when it is charged.
    pub last_use_us: Option<i64>,
}

/// A line without its comment. A comment starts with a `#` at the start or after a space, because
/// names may contain `#`.
pub(super) fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let at = line.match_indices('#').map(|(at, _)| at).find(is_comment);
    line[..at.unwrap_or(line.len())].trim()
}

/// The account of users who are not in the file.
pub const OTHERS: &str = "(others)";

/// An account or a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name, without the accounts above it.
    pub name: String,
    /// The account it belongs to; `None` for the root, which is node 0.
    pub parent: Option<usize>,
    /// The shares among its siblings.
    pub shares: Shares,
    /// Accounts and users below it, in the order of the file.
    pub children: Vec<usize>,
    /// Whether it is a user; in a file, a node without children.
    pub is_user: bool,
    /// The user, as a position among the people; `None` for accounts, and for users of the file who
    /// never submit.
    pub who: Option<usize>,
    /// The first interval in which it exists.
    pub since: u32,
}

/// The tree of accounts and users.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes: the root first, and parents before their children.
    pub nodes: Vec<Node>,
    /// The leaf of each user.
    pub leaf_of: Vec<usize>,
    /// The number of users who are not in the file.
    pub unlisted: usize,
    /// The number of users with several accounts. Each is put in the account of the first
    /// submission.
    pub in_several: usize,
    /// Whether shares were given.
    pub is_given: bool,
}

impl Tree {
    fn with_root(people: usize) -> Self {
        let root = Node {
            name: String::new(),
            parent: None,
            shares: Shares::Own(1.0),
            children: Vec::new(),
            is_user: false,
            who: None,
            since: 0,
        };
        Self {
            nodes: vec![root],
            leaf_of: vec![0; people],
            unlisted: 0,
            in_several: 0,
            is_given: false,
        }
    }

    /// Adds an account that exists from an interval on.
    fn add(&mut self, parent: usize, name: &str, shares: Shares, since: u32) -> usize {
        let idx = self.nodes.len();
        self.nodes.push(Node {
            name: name.to_owned(),
            parent: Some(parent),
            shares,
            children: Vec::new(),
            is_user: false,
            who: None,
            since,
        });
        self.nodes[parent].children.push(idx);
        idx
    }

    /// Adds a user with one share.
    fn add_user(&mut self, parent: usize, who: usize, person: &Person) {
        let idx = self.add(parent, &person.name, Shares::Own(1.0), person.since);
        self.nodes[idx].is_user = true;
        self.nodes[idx].who = Some(who);
        self.leaf_of[who] = idx;
    }

    /// Assigns a person to a leaf.
    fn put(&mut self, who: usize, leaf: usize) {
        self.nodes[leaf].who = Some(who);
        self.leaf_of[who] = leaf;
    }

    /// All users directly below the root, with one share each.
    pub fn flat(people: &[Person]) -> Self {
        let mut tree = Self::with_root(people.len());
        for (who, person) in people.iter().enumerate() {
            tree.add_user(0, who, person);
        }
        tree
    }

    /// One account per group of the log, with one share each. It exists from the first submission
    /// of any of its users on. Users without a group are below the root.
    pub fn of_groups(people: &[Person]) -> Self {
        let mut tree = Self::with_root(people.len());
        let mut since: BTreeMap<&str, u32> = BTreeMap::new();
        for person in people {
            let Some(group) = person.group.as_deref() else { continue };
            let first = since.entry(group).or_insert(person.since);
            *first = person.since.min(*first);
        }
        let accounts: BTreeMap<&str, usize> = since
            .into_iter()
            .map(|(group, since)| (group, tree.add(0, group, Shares::Own(1.0), since)))
            .collect();
        for (who, person) in people.iter().enumerate() {
            let account = person.group.as_deref().map_or(0, |group| accounts[group]);
            tree.add_user(account, who, person);
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
        if let Some(found) = associations(text) {
            return Self::of_associations(&found?, people);
        }
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
                    let problem = format!("`{shares}` is neither a number of shares nor `parent`");
                    return Err(fail(problem));
                }
            };
            // The longest account above it; the rest is the name, including its slashes.
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
            let idx = tree.add(parent, name, shares, 0);
            lines.push(number);
            if known.insert(path.to_owned(), idx).is_some() {
                return Err(fail(format!("`{path}` is listed twice")));
            }
        }
        let leaves = (1..tree.nodes.len()).filter(|&idx| tree.nodes[idx].children.is_empty());
        let leaves: Vec<usize> = leaves.collect();
        for &leaf in &leaves {
            tree.nodes[leaf].is_user = true;
        }
        let named = |leaf| (lines[leaf], Choice::Refused);
        tree.seat(people, &leaves, named)?;
        Ok(tree)
    }

    /// The tree of a site's associations.
    fn of_associations(all: &[Association], people: &[Person]) -> Result<Self, (usize, String)> {
        let mut tree = Self { is_given: true, ..Self::with_root(people.len()) };
        let mut leaves = Vec::new();
        for one in all {
            // The root is node 0.
            let idx = tree.add(one.above.map_or(0, |above| above + 1), &one.name, one.shares, 0);
            tree.nodes[idx].is_user = one.is_user;
            leaves.extend(one.is_user.then_some(idx));
        }
        tree.seat(people, &leaves, |leaf| (all[leaf - 1].line, Choice::OfGroup))?;
        Ok(tree)
    }

    /// Assigns each person to the leaf with that name. `line_of` gives the line of a leaf, and the
    /// choice between several leaves with the same name.
    fn seat(
        &mut self,
        people: &[Person],
        leaves: &[usize],
        line_of: impl Fn(usize) -> (usize, Choice),
    ) -> Result<(), (usize, String)> {
        let mut of_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let names: Vec<String> = leaves.iter().map(|&leaf| self.nodes[leaf].name.clone()).collect();
        for (name, &leaf) in names.iter().zip(leaves) {
            of_name.entry(name).or_default().push(leaf);
        }
        let mut others = None;
        for (who, person) in people.iter().enumerate() {
            let own = of_name.get(person.name.as_str()).map_or(&[][..], Vec::as_slice);
            match *own {
                [leaf] => self.put(who, leaf),
                [_, second, ..] => {
                    let (line, choice) = line_of(second);
                    let is_of_group = |leaf: &&usize| {
                        let account =
                            self.nodes[**leaf].parent.map(|above| &self.nodes[above].name);
                        account == person.group.as_ref()
                    };
                    let of_group = own.iter().find(is_of_group).copied();
                    let Some(leaf) = of_group.filter(|_| choice == Choice::OfGroup) else {
                        return Err((line, choice.problem(person)));
                    };
                    self.put(who, leaf);
                    self.in_several += 1;
                }
                [] => {
                    let account = *others
                        .get_or_insert_with(|| self.add(0, OTHERS, Shares::Own(1.0), person.since));
                    self.nodes[account].since = person.since.min(self.nodes[account].since);
                    self.add_user(account, who, person);
                    self.unlisted += 1;
                }
            }
        }
        Ok(())
    }
}

/// The choice between several leaves with one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// None: a name must be the name of one user.
    Refused,
    /// The leaf in the account of the user's first submission.
    OfGroup,
}

impl Choice {
    /// Why no leaf is chosen.
    fn problem(self, person: &Person) -> String {
        let name = &person.name;
        match (self, &person.group) {
            (Self::Refused, _) => format!("user `{name}` is listed under two accounts"),
            (Self::OfGroup, Some(account)) => format!(
                "user `{name}` is in several accounts here, and in none of them is the account \
                 `{account}` of the first submission"
            ),
            (Self::OfGroup, None) => format!(
                "user `{name}` is in several accounts here, and the log records no account of the \
                 first submission"
            ),
        }
    }
}

/// The tree in an interval: without users and accounts that do not exist yet, and with accounts
/// that have `parent` dissolved.
///
/// ```text
///  root ── A 50 ── T parent ── x 30         root ── A 50 ── x 30, y 50, z 40
///               │           └─ y 50    =>
///               └─ z 40
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The effective parent of each node; `None` for the root and for nodes that do not exist yet.
    parents: Vec<Option<usize>>,
    /// The effective children of each node, in the order of the file. A dissolved account is one of
    /// them, without children.
    children: Vec<Vec<usize>>,
    /// The sum of the shares of these children, without those that use their account's shares.
    shares: Vec<f64>,
    /// The number of existing users, active or not.
    users: usize,
}

impl Standing {
    /// The standing of a tree in an interval.
    pub fn of(tree: &Tree, interval: u32) -> Self {
        let mut standing = Self {
            parents: vec![None; tree.nodes.len()],
            children: vec![Vec::new(); tree.nodes.len()],
            shares: vec![0.0; tree.nodes.len()],
            users: 0,
        };
        for (idx, node) in tree.nodes.iter().enumerate() {
            let Some(mut above) = node.parent else { continue };
            if interval < node.since {
                continue;
            }
            while let (Shares::Parent, Some(next)) =
                (tree.nodes[above].shares, tree.nodes[above].parent)
            {
                above = next;
            }
            standing.parents[idx] = Some(above);
            standing.children[above].push(idx);
            if let Shares::Own(shares) = node.shares {
                standing.shares[above] += shares;
            }
            standing.users += usize::from(node.is_user);
        }
        standing
    }

    /// Updates it from one interval to the next; returns whether anything has changed.
    pub fn follow(&mut self, tree: &Tree, interval: u32) -> bool {
        let is_of_tree = self.parents.len() == tree.nodes.len();
        let has_changed = !is_of_tree || tree.nodes.iter().any(|node| node.since == interval);
        if has_changed {
            *self = Self::of(tree, interval);
        }
        has_changed
    }

    /// The effective parent of a node.
    pub fn parent(&self, idx: usize) -> Option<usize> {
        self.parents[idx]
    }

    /// The effective children of a node.
    pub fn children(&self, idx: usize) -> &[usize] {
        &self.children[idx]
    }

    /// The sum of the shares of a node's children, without those that use their account's shares.
    pub fn shares_below(&self, idx: usize) -> f64 {
        self.shares[idx]
    }

    /// The number of existing users, active or not.
    pub fn user_count(&self) -> usize {
        self.users
    }

    /// Usage of every node: that of its users and of the accounts below it.
    pub fn sums(&self, tree: &Tree, usage: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; tree.nodes.len()];
        for idx in (0..tree.nodes.len()).rev() {
            if let Some(who) = tree.nodes[idx].who {
                sums[idx] += usage[who];
            }
            if let Some(parent) = self.parents[idx] {
                sums[parent] += sums[idx];
            }
        }
        sums
    }

    /// The share of the whole to which each node is entitled: the product of the shares from the
    /// root to the node. It is 0 below an account without shares, and for nodes that do not exist
    /// yet.
    pub fn norm_shares(&self, tree: &Tree) -> Vec<f64> {
        let mut norm = vec![1.0; tree.nodes.len()];
        for idx in 1..tree.nodes.len() {
            norm[idx] = self.parents[idx].map_or(0.0, |parent| {
                norm[parent]
                    * match tree.nodes[idx].shares {
                        Shares::Parent => 1.0,
                        Shares::Own(_) if self.shares[parent] == 0.0 => 0.0,
                        Shares::Own(shares) => shares / self.shares[parent],
                    }
            });
        }
        norm
    }

    /// The share of the whole to which each user is entitled.
    pub fn entitlements(&self, tree: &Tree) -> Vec<f64> {
        let norm = self.norm_shares(tree);
        tree.leaf_of.iter().map(|&leaf| norm[leaf]).collect()
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
        let standing = Standing::of(&tree, 0);
        let found = standing.entitlements(&tree);
        for (found, expected) in found.iter().zip([0.6, 0.3, 0.075, 0.025]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert_eq!(standing.sums(&tree, &[1.0, 2.0, 4.0, 8.0])[0], 15.0);
        assert_eq!(tree.unlisted, 0);
    }

    #[test]
    fn an_unlisted_user_is_put_under_others() {
        let tree = tree("A 1\nA/x 1", &["x", "y"]);
        assert_eq!(tree.unlisted, 1);
        assert_eq!(Standing::of(&tree, 0).entitlements(&tree), [0.5, 0.5]);
    }

    #[test]
    fn a_faulty_line_is_named() {
        let check = |text: &str, line: usize, problem: &str| {
            assert_eq!(Tree::read(text, &people(&["x"])), Err((line, problem.to_owned())));
        };
        check("# a\nA\n", 2, "`A` is not of the form `ACCOUNT/USER SHARES`");
        check("A -1", 1, "`-1` is neither a number of shares nor `parent`");
        check("A/x 1", 1, "account `A` is not named above");
        check("A 1\nA 2", 2, "`A` is listed twice");
        check("A 1\nB 1\nA/x 1\nB/x 1\nB/y 1", 4, "user `x` is listed under two accounts");
    }

    #[test]
    fn who_is_in_several_accounts_needs_that_of_the_first_submission() {
        let text = "Account|User|RawShares\nroot||\n g||1\n  g|x|1\n h||1\n  h|x|1\n";
        let of = |group: Option<&str>| {
            let group = group.map(str::to_owned);
            let person = Person { name: "x".to_owned(), group, ..Person::default() };
            Tree::read(text, &[person])
        };
        assert_eq!(of(Some("h")).unwrap().in_several, 1);
        let said = |group| of(group).unwrap_err();
        let begin = "user `x` is in several accounts here, and";
        let other = format!("{begin} in none of them is the account `y` of the first submission");
        assert_eq!(said(Some("y")), (6, other));
        let none = format!("{begin} the log records no account of the first submission");
        assert_eq!(said(None), (6, none));
    }

    #[test]
    fn names_may_hold_slashes_spaces_and_hashes() {
        let names = ["a/b=", "#x", "y z", "c/d"];
        let tree = tree("A 1 # an account\nA/a/b= 1\nA/#x 2\nA/y z 1\nc/d 3", &names);
        assert_eq!(tree.unlisted, 0);
        assert_eq!(Standing::of(&tree, 0).entitlements(&tree), [0.0625, 0.125, 0.0625, 0.75]);
    }

    #[test]
    fn groups_of_the_log_are_accounts() {
        let person = |name: &str, group: Option<&str>| Person {
            name: name.to_owned(),
            group: group.map(str::to_owned),
            ..Person::default()
        };
        let tree = Tree::of_groups(&[
            person("a", Some("g")),
            person("b", Some("g")),
            person("c", Some("h")),
            person("d", None),
        ]);
        let third = 1.0 / 3.0;
        assert_eq!(
            Standing::of(&tree, 0).entitlements(&tree),
            [third / 2.0, third / 2.0, third, third]
        );
    }

    #[test]
    fn accounts_with_parent_are_dissolved_at_every_level() {
        let tree = tree(
            "A 50\nA/T parent\nA/T/U parent\nA/T/U/x 30\nA/T/y 50\nA/T/v parent\nA/z 20\nB 50\nB/w 1",
            &["v", "w", "x", "y", "z"],
        );
        let standing = Standing::of(&tree, 0);
        // x, y and z divide the half of A as 30, 50 and 20; v has the entitlement of A.
        let found = standing.entitlements(&tree);
        for (found, expected) in found.iter().zip([0.5, 0.5, 0.15, 0.25, 0.1]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        let sums = standing.sums(&tree, &[1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!([sums[0], sums[1], sums[2]], [31.0, 29.0, 0.0], "T itself has nothing");
        assert_eq!(standing.user_count(), 5);
    }

    #[test]
    fn an_account_is_there_from_the_first_submission_of_its_users() {
        let person = |name: &str, group: &str, since: u32| Person {
            name: name.to_owned(),
            group: Some(group.to_owned()),
            since,
            ..Person::default()
        };
        let tree =
            Tree::of_groups(&[person("a", "g", 4), person("b", "g", 2), person("c", "h", 3)]);
        let mut standing = Standing::default();
        let mut at = |interval| {
            standing.follow(&tree, interval);
            assert_eq!(standing, Standing::of(&tree, interval));
            (standing.user_count(), standing.entitlements(&tree))
        };
        assert_eq!(at(0), (0, vec![0.0; 3]));
        assert_eq!(at(1), (0, vec![0.0; 3]));
        assert_eq!(at(2), (1, vec![0.0, 1.0, 0.0]));
        assert_eq!(at(3), (2, vec![0.0, 0.5, 0.5]));
        assert_eq!(at(4), (3, vec![0.25, 0.25, 0.5]));
    }

    #[test]
    fn a_user_of_the_file_is_there_from_the_start() {
        let people = [Person { name: "x".to_owned(), since: 7, ..Person::default() }];
        let tree = Tree::read("A 1\nA/x 1\nA/never 3", &people).unwrap();
        let standing = Standing::of(&tree, 0);
        assert_eq!((standing.user_count(), standing.entitlements(&tree)), (2, vec![0.25]));
        assert!(tree.nodes[3].is_user && tree.nodes[3].who.is_none());
    }
}
