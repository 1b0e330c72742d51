//! The vectors of Slurm's tests of classic fair share (test24.1, `test_130_2`) and Fair Tree
//! (test24.4), rewritten as files of accounts: shares, usage and results are from its test suite,
//! which prints six digits.

use super::accounts::{Standing, Tree};
use super::indices::{Reading, classic, fair_tree};
use super::samples::{people, tree};

/// The tree of both classic vectors; the second also has account H.
const CLASSIC: &str = "A 40\nA/B 30\nA/B/User1 1\nA/C 10\nA/C/User2 1\nA/C/User3 1\n\
                       D 60\nD/E 25\nD/E/User4 1\nD/F 35\nD/F/User5 1\nG 0\nG/User6 0\n";

const WITH_PARENT: &str = "H 50\nH/HTA parent\nH/HTA/UHTAStd1 parent\nH/HTA/UHTAStd2 30\n\
                           H/HTA/UHTAStd3 50\nH/UHRA1 parent\nH/UHRA2 40\nH/UHRA3 50\n";

/// A user with usage, and Slurm's output for it.
struct Line(&'static str, f64, [&'static str; 3]);

fn read(text: &str, users: &[&str]) -> (Tree, Standing) {
    let tree = tree(text, users);
    assert_eq!(tree.unlisted, 0);
    let standing = Standing::of(&tree, 0);
    (tree, standing)
}

/// Checks normalized shares, effective usage and factor.
fn check_classic(text: &str, lines: &[Line]) {
    let users: Vec<&str> = lines.iter().map(|line| line.0).collect();
    let usage: Vec<f64> = lines.iter().map(|line| line.1).collect();
    let (tree, standing) = read(text, &users);
    let shares = standing.entitlements(&tree);
    let found = classic(&tree, &standing, &usage, 1.0);
    for (line, (share, (effective, factor))) in lines.iter().zip(shares.into_iter().zip(found)) {
        let printed = [share, effective, factor].map(|number| format!("{number:.6}"));
        assert_eq!(printed, line.2, "{}", line.0);
    }
}

#[test]
fn classic_fair_share_as_in_test24_1() {
    check_classic(
        CLASSIC,
        &[
            Line("User1", 20.0, ["0.300000", "0.387500", "0.408479"]),
            Line("User2", 25.0, ["0.050000", "0.275000", "0.022097"]),
            Line("User3", 0.0, ["0.050000", "0.150000", "0.125000"]),
            Line("User4", 25.0, ["0.250000", "0.250000", "0.500000"]),
            Line("User5", 0.0, ["0.350000", "0.145833", "0.749154"]),
            Line("User6", 30.0, ["0.000000", "0.300000", "0.000000"]),
        ],
    );
}

#[test]
fn classic_fair_share_with_parent_as_in_test_130_2() {
    check_classic(
        &format!("{CLASSIC}{WITH_PARENT}"),
        &[
            Line("User1", 20.0, ["0.200000", "0.184524", "0.527550"]),
            Line("User2", 25.0, ["0.033333", "0.130952", "0.065672"]),
            Line("User3", 0.0, ["0.033333", "0.071429", "0.226431"]),
            Line("User4", 25.0, ["0.166667", "0.119048", "0.609507"]),
            Line("User5", 0.0, ["0.233333", "0.069444", "0.813594"]),
            Line("User6", 30.0, ["0.000000", "0.142857", "0.000000"]),
            Line("UHTAStd1", 10.0, ["0.333333", "0.523810", "0.336475"]),
            Line("UHTAStd2", 10.0, ["0.058824", "0.131653", "0.211966"]),
            Line("UHTAStd3", 25.0, ["0.098039", "0.238095", "0.185749"]),
            Line("UHRA1", 20.0, ["0.333333", "0.523810", "0.336475"]),
            Line("UHRA2", 20.0, ["0.078431", "0.196078", "0.176777"]),
            Line("UHRA3", 25.0, ["0.098039", "0.238095", "0.185749"]),
        ],
    );
}

/// The accounts of the Fair Tree vector.
const FAIR_TREE: &str = "aA 40\naA/aAA 30\naA/aAA/uAA1 1\naA/aAB 10\naA/aAB/uAB1 1\naA/aAB/uAB2 1\n\
    aB 60\naB/aBA 25\naB/aBA/uBA1 1\naB/aBB 35\naB/aBB/uBB1 1\n\
    aC 0\naC/uC1 0\n\
    aD 50\naD/aDA parent\naD/aDA/uDA1 parent\naD/aDA/uDA2 30\naD/aDA/uDA3 50\n\
    aD/uD1 parent\naD/uD2 40\naD/uD3 50\n\
    aE 10\naE/aE1 10\naE/aE2 10\nu1 10\naF 20\naF/uF1 10\naF/uF2 20\n\
    aG 8\naG/uG1 10\naG/aGA 10\naG/aGA/uGA1 20\naG/aGA/uGA2 20\nu2 10\n";

/// Users, usage, factor, level (`-` if none is printed).
const RANKED: [(&str, f64, &str, &str); 21] = [
    ("uAA1", 20.0, "0.619048", "1.000000"),
    ("uAB1", 25.0, "0.523810", "0.500000"),
    ("uAB2", 0.0, "0.571429", "inf"),
    ("uBA1", 25.0, "0.714286", "1.000000"),
    ("uBB1", 0.0, "0.761905", "inf"),
    ("uC1", 30.0, "0.047619", "0.000000"),
    ("uD1", 20.0, "0.476190", "-"),
    ("uD2", 20.0, "0.238095", "1.294118"),
    ("uD3", 25.0, "0.333333", "1.294118"),
    ("uDA1", 10.0, "0.476190", "-"),
    ("uDA2", 10.0, "0.380952", "1.941176"),
    ("uDA3", 25.0, "0.333333", "1.294118"),
    ("aE1", 0.0, "1.000000", "inf"),
    ("aE2", 0.0, "1.000000", "inf"),
    ("uF1", 0.0, "1.000000", "inf"),
    ("uF2", 0.0, "1.000000", "inf"),
    ("uG1", 10.0, "0.190476", "1.000000"),
    ("uGA1", 4.0, "0.190476", "1.250000"),
    ("uGA2", 6.0, "0.095238", "0.833333"),
    ("u1", 0.0, "1.000000", "inf"),
    ("u2", 10.0, "0.666667", "1.153846"),
];

fn check_fair_tree(tree: &Tree, users: &[(&str, f64, &str, &str)]) {
    let usage: Vec<f64> = users.iter().map(|user| user.1).collect();
    let found = fair_tree(tree, &Standing::of(tree, 0), &usage, Reading::Code);
    for ((name, _, factor, level), found) in users.iter().zip(found) {
        assert_eq!(format!("{:.6}", found.0), *factor, "{name}");
        if *level != "-" {
            assert_eq!(format!("{:.6}", found.1), *level, "{name}");
        }
    }
}

#[test]
fn fair_tree_as_in_test24_4() {
    let users: Vec<&str> = RANKED.iter().map(|user| user.0).collect();
    let (tree, _) = read(FAIR_TREE, &users);
    check_fair_tree(&tree, &RANKED);
}

#[test]
fn users_who_never_come_count_in_fair_tree() {
    // The ranks stay the same if users without usage are only in the file.
    let active: Vec<_> = RANKED.into_iter().filter(|user| 0.0 < user.1).collect();
    assert!(active.len() < RANKED.len());
    let names: Vec<&str> = active.iter().map(|user| user.0).collect();
    let tree = Tree::read(FAIR_TREE, &people(&names)).expect("the test input is valid");
    check_fair_tree(&tree, &active);
}
