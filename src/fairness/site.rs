//! The fair-share rule of a site, read from its own files.
//!
//! In: the text of a `slurm.conf`, or the output of `sshare -a -l -P` or `sacctmgr dump`. Out: the
//! index with the site's parameters, or its associations (accounts, and users in them) with their
//! shares. A line that cannot be read is an error with its number. A rule that is not supported is
//! rejected. Irrelevant settings are skipped.
//!
//! ```text
//! PriorityFlags=NO_FAIR_TREE         Account|User|RawShares|...     Cluster - 'c':Fairshare=1
//! PriorityDecayHalfLife=14-0         root|||...                     Parent - 'root'
//!                                     physics||60|...               Account - 'physics':Fairshare=60
//!  => slurm:half_life_s=1209600        physics|alice|1|...          Parent - 'physics'
//!                                                                   User - 'alice':Fairshare=1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{FairnessError, read_text};

/// A line number and the problem.
type Wrong = (usize, String);

/// Settings of a `slurm.conf` that determine how fair share is computed.
const READ: [&str; 5] = [
    "PriorityType",
    "PriorityDecayHalfLife",
    "PriorityUsageResetPeriod",
    "PriorityFlags",
    "FairShareDampeningFactor",
];

/// Other settings of priority, which do not change the fair-share factor.
const BESIDE: [&str; 13] = [
    "PriorityCalcPeriod",
    "PriorityFavorSmall",
    "PriorityMaxAge",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairShare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
];

/// First keys of lines about a part of the cluster. These lines have their own keys, such as
/// `PriorityTier`.
const OF_A_PART: [&str; 5] = ["DownNodes", "FrontendName", "NodeName", "NodeSet", "PartitionName"];

/// Flags of `PriorityFlags`; only the first three affect fair share.
const FLAGS: [&str; 14] = [
    "FAIR_TREE",
    "NO_FAIR_TREE",
    "DEPTH_OBLIVIOUS",
    "ACCRUE_ALWAYS",
    "CALCULATE_RUNNING",
    "INCR_ONLY",
    "MAX_TRES",
    "MAX_TRES_GRES",
    "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",
    "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",
    "SMALL_RELATIVE_TO_TIME",
];

/// Weights of resources, in lines of partitions.
const BILLING: &str = "TRESBillingWeights";

/// The periods after which usage is reset to 0.
const PERIODS: [&str; 7] = ["none", "now", "daily", "weekly", "monthly", "quarterly", "yearly"];

/// The fair-share rule of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The index in its notation.
    pub index: String,
    /// The parts of the file that are not applied.
    pub remarks: Vec<String>,
}

impl Rule {
    /// Reads a `slurm.conf`.
    ///
    /// # Errors
    /// It cannot be read, a setting has a value that Slurm does not accept, or the rule is not
    /// supported.
    pub fn load(path: &Path) -> Result<Self, FairnessError> {
        let wrong = |(line, problem)| FairnessError::Line { path: path.to_owned(), line, problem };
        Self::read(&read_text(path)?).map_err(wrong)
    }

    fn read(text: &str) -> Result<Self, Wrong> {
        let (settings, mut remarks) = settings(text)?;
        let get = |name: &str| settings.get(name).map(|(line, value)| (*line, value.as_str()));
        if let Some((line, kind)) = get("PriorityType")
            && !kind.eq_ignore_ascii_case("priority/multifactor")
        {
            let problem = format!("`{kind}` has no fair share: only `priority/multifactor` has");
            return Err((line, problem));
        }
        let is_fair_tree =
            get("PriorityFlags").map_or(Ok(true), |(line, text)| flags(line, text))?;
        let half_life_s = match get("PriorityDecayHalfLife") {
            None => 604_800,
            Some((line, text)) => span_s(text).ok_or_else(|| {
                let what = "a time such as `7-0` (days-hours), `14-00:00:00` or `600` (minutes)";
                (line, format!("PriorityDecayHalfLife: `{text}` is not {what}"))
            })?,
        };
        let name = if is_fair_tree { "fair-tree" } else { "slurm" };
        let mut parameters = vec![format!("half_life_s={half_life_s}")];
        if let Some((line, text)) = get("PriorityUsageResetPeriod") {
            let known = PERIODS.iter().find(|known| known.eq_ignore_ascii_case(text));
            let known = known.ok_or_else(|| {
                let known = PERIODS.join(", ");
                (line, format!("PriorityUsageResetPeriod: `{text}` is not one of {known}"))
            })?;
            match *known {
                "none" => {}
                "now" => remarks.push("usage is not reset when Slurm starts".to_owned()),
                period => parameters.push(format!("reset={period}")),
            }
        }
        if let Some((line, text)) = get("FairShareDampeningFactor") {
            let factor =
                text.parse::<u32>().ok().filter(|&factor| 0 < factor).ok_or_else(|| {
                    let problem = format!("FairShareDampeningFactor: `{text}` is not 1 or more");
                    (line, problem)
                })?;
            if !is_fair_tree {
                parameters.push(format!("dampening={factor}"));
            }
        }
        Ok(Self { index: format!("{name}:{}", parameters.join(",")), remarks })
    }
}

/// Settings of a file: the line number and value of each.
type Settings = BTreeMap<&'static str, (usize, String)>;

/// The settings that are read, and remarks about those that are not applied.
fn settings(text: &str) -> Result<(Settings, Vec<String>), Wrong> {
    let (mut settings, mut remarks) = (Settings::new(), Vec::new());
    let (mut billed, mut is_told) = (0, false);
    let mut without_effect: BTreeSet<&str> = BTreeSet::new();
    let lines = whole_lines(text);
    if lines.is_empty() {
        return Err((1, "the file has no settings, such as `PriorityFlags=...`".to_owned()));
    }
    for (number, line) in lines {
        let is_include = line.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("include "));
        if is_include {
            remarks.push(format!("line {number}: `{line}` is not read"));
            continue;
        }
        let pairs = pairs(&line);
        if pairs.is_empty() {
            let begin: String = line.chars().take(40).collect();
            return Err((number, format!("`{begin}` is not a setting KEY=VALUE of Slurm")));
        }
        billed += pairs.iter().filter(|pair| pair.0.eq_ignore_ascii_case(BILLING)).count();
        let first = pairs.first().map_or("", |pair| pair.0);
        if OF_A_PART.iter().any(|known| known.eq_ignore_ascii_case(first)) {
            continue;
        }
        for (key, value) in pairs {
            let is = |known: &&&str| known.eq_ignore_ascii_case(key);
            if let Some(known) = READ.iter().find(is) {
                is_told = true;
                if value.is_empty() {
                    return Err((number, format!("`{key}` has no value")));
                }
                if let Some((first, _)) = settings.insert(known, (number, value.to_owned())) {
                    return Err((number, format!("`{key}` is set twice: in line {first} too")));
                }
            } else if key.to_ascii_lowercase().starts_with("priority") {
                without_effect.insert(BESIDE.iter().find(is).ok_or_else(|| {
                    let known = [&READ[..4], &BESIDE[..]].concat().join(", ");
                    (number, format!("Slurm has no setting `{key}` (known: {known})"))
                })?);
            }
        }
    }
    if !is_told {
        let defaults = "no setting of fair share: those of Slurm by default are used";
        remarks.push(defaults.to_owned());
    }
    if !without_effect.is_empty() {
        let keys = Vec::from_iter(without_effect).join(", ");
        remarks.push(format!("not used, since fair-share factors do not depend on them: {keys}"));
    }
    if 0 < billed {
        let why = "usage is what --cpu or --resource says";
        remarks.push(format!("{BILLING} are not applied: {why}"));
    }
    Ok((settings, remarks))
}

/// Lines without comments, joined where a `\` continues them; each with the number of its first
/// line.
fn whole_lines(text: &str) -> Vec<(usize, String)> {
    let mut whole: Vec<(usize, String)> = Vec::new();
    let mut is_continued = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (piece, goes_on) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        match whole.last_mut().filter(|_| is_continued) {
            Some((_, last)) => last.push_str(piece),
            None => whole.push((number, piece.to_owned())),
        }
        is_continued = goes_on;
    }
    whole.retain(|(_, line)| !line.is_empty());
    whole
}

/// The `KEY=VALUE` pairs of a line; a value may be in quotes, with blanks around the `=`.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = line;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.split_whitespace().next_back().unwrap_or_default();
        let after = after.trim_start();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        pairs.push((key, value));
        rest = left;
    }
    pairs
}

/// Whether flags choose Fair Tree, which is the default since 19.05.
fn flags(line: usize, text: &str) -> Result<bool, Wrong> {
    let mut chosen = Vec::new();
    for flag in text.split(',').map(str::trim).filter(|flag| !flag.is_empty()) {
        let known = FLAGS.iter().find(|known| known.eq_ignore_ascii_case(flag));
        chosen.push(*known.ok_or_else(|| {
            let known = FLAGS.join(", ");
            (line, format!("PriorityFlags: there is no flag `{flag}` (known: {known})"))
        })?);
    }
    let has = |flag: &str| chosen.contains(&flag);
    if has("DEPTH_OBLIVIOUS") {
        let problem =
            "PriorityFlags: DEPTH_OBLIVIOUS, a variant of the classic factor, is not computed";
        return Err((line, problem.to_owned()));
    }
    if has("FAIR_TREE") && has("NO_FAIR_TREE") {
        let problem = "PriorityFlags: FAIR_TREE and NO_FAIR_TREE exclude each other";
        return Err((line, problem.to_owned()));
    }
    Ok(!has("NO_FAIR_TREE"))
}

/// A time in Slurm's notation, s: minutes, `M:S`, `H:M:S`, `D-H`, `D-H:M` or `D-H:M:S`.
fn span_s(text: &str) -> Option<u64> {
    let (days, clock) =
        text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
    let number = |part: &str| part.parse::<u32>().ok().map(u64::from);
    let parts: Vec<u64> = clock.split(':').map(number).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = match (days, &parts[..]) {
        (Some(_), &[hours]) => [hours, 0, 0],
        (Some(_), &[hours, minutes]) => [hours, minutes, 0],
        (_, &[hours, minutes, seconds]) => [hours, minutes, seconds],
        (None, &[minutes, seconds]) => [0, minutes, seconds],
        (None, &[minutes]) => [0, minutes, 0],
        _ => return None,
    };
    let days = days.map_or(Some(0), number)?;
    Some(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

/// The shares of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shares {
    /// Its own number, relative to its siblings.
    Own(f64),
    /// The shares of its account.
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

/// An account, or a user in one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Association {
    /// The number of its line.
    pub line: usize,
    /// The account it belongs to, as a position among earlier ones; `None` below the root.
    pub above: Option<usize>,
    /// Its name.
    pub name: String,
    /// Whether it is a user.
    pub is_user: bool,
    /// Its shares.
    pub shares: Shares,
}

/// The associations in the output of `sshare` or `sacctmgr dump`; `None` for any other text.
pub(super) fn associations(text: &str) -> Option<Result<Vec<Association>, Wrong>> {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let first = text.lines().find(is_said)?;
    if ["Cluster - ", "Parent - ", "Account - "].iter().any(|begin| first.starts_with(begin)) {
        return Some(of_dump(text));
    }
    let words: Vec<&str> = first.split_whitespace().collect();
    if ["Account", "User", "RawShares"].iter().all(|name| words.contains(name)) {
        let line = text.lines().position(|line| line == first).unwrap_or_default() + 1;
        let problem = "the columns are aligned with blanks and cut: use `sshare -a -l -P`";
        return Some(Err((line, problem.to_owned())));
    }
    let columns: Vec<String> = first.split('|').map(|name| name.replace(' ', "")).collect();
    let place = |name: &str| columns.iter().position(|known| known.eq_ignore_ascii_case(name));
    let places = [place("Account")?, place("User")?, place("RawShares")?];
    Some(of_sshare(text, columns.len(), places, place("Partition")))
}

/// The associations so far, with their accounts by name.
#[derive(Default)]
struct Book {
    all: Vec<Association>,
    /// By name; `None` is the root.
    accounts: BTreeMap<String, Option<usize>>,
}

impl Book {
    fn new() -> Self {
        Self { all: Vec::new(), accounts: BTreeMap::from([("root".to_owned(), None)]) }
    }

    fn account(&self, line: usize, name: &str) -> Result<Option<usize>, Wrong> {
        let known = self.accounts.get(name).copied();
        known.ok_or_else(|| (line, format!("account `{name}` is not named above")))
    }

    fn add(&mut self, new: Association) -> Result<(), Wrong> {
        let is_same = |known: &Association| {
            (known.above, &known.name, known.is_user) == (new.above, &new.name, new.is_user)
        };
        if new.is_user && self.all.iter().any(is_same) {
            let problem = format!(
                "user `{}` is in this account twice: usage is not separated by partition",
                new.name
            );
            return Err((new.line, problem));
        }
        if !new.is_user && self.accounts.insert(new.name.clone(), Some(self.all.len())).is_some() {
            return Err((new.line, format!("account `{}` is listed twice", new.name)));
        }
        self.all.push(new);
        Ok(())
    }
}

/// The number that a dump writes for `parent`, the shares of the account.
const PARENT: &str = "2147483647";

fn shares_of(line: usize, text: &str) -> Result<Shares, Wrong> {
    match text.trim() {
        "" => Ok(Shares::Own(1.0)),
        PARENT => Ok(Shares::Parent),
        word if word.eq_ignore_ascii_case("parent") => Ok(Shares::Parent),
        number => {
            number.parse::<u32>().map(|shares| Shares::Own(f64::from(shares))).map_err(|_| {
                (line, format!("`{number}` is neither a whole number of shares nor `parent`"))
            })
        }
    }
}

/// Reads the output of `sshare -P`: an account is indented below the account that it belongs to,
/// and a user's line names the account.
fn of_sshare(
    text: &str,
    columns: usize,
    [account, user, shares]: [usize; 3],
    partition: Option<usize>,
) -> Result<Vec<Association>, Wrong> {
    let mut book = Book::new();
    // The accounts above the next line, by depth.
    let mut above: Vec<Option<usize>> = Vec::new();
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).skip(1);
    for (line, text) in lines {
        let cells: Vec<&str> = text.split('|').collect();
        if cells.len() != columns {
            let problem = format!("{} fields, and the header has {columns}", cells.len());
            return Err((line, problem));
        }
        let name = cells[account].trim();
        let depth = cells[account].len() - cells[account].trim_start().len();
        let partition = partition.map_or("", |partition| cells[partition].trim());
        if !partition.is_empty() {
            let problem = format!("shares of a single partition (`{partition}`) are not supported");
            return Err((line, problem));
        }
        let (user, shares) = (cells[user].trim(), shares_of(line, cells[shares])?);
        if !user.is_empty() {
            let above = book.account(line, name)?;
            let name = user.to_owned();
            book.add(Association { line, above, name, is_user: true, shares })?;
        } else if depth == 0 && name == "root" {
            above = vec![None];
        } else {
            let Some(&parent) = depth.checked_sub(1).and_then(|depth| above.get(depth)) else {
                let problem = format!("account `{name}` is {depth} deep, and none is above it");
                return Err((line, problem));
            };
            above.truncate(depth);
            above.push(Some(book.all.len()));
            let name = name.to_owned();
            book.add(Association { line, above: parent, name, is_user: false, shares })?;
        }
    }
    Ok(book.all)
}

/// Reads the output of `sacctmgr dump`: lines below `Parent - 'x'` belong to the account x.
fn of_dump(text: &str) -> Result<Vec<Association>, Wrong> {
    let mut book = Book::new();
    let mut above = None;
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let Some((what, rest)) = text.split_once(" - ") else {
            return Err((line, format!("`{text}` is not of the form `Account - 'NAME':...`")));
        };
        let mut options = options_of(rest).into_iter();
        let name = unquoted(options.next().unwrap_or_default());
        if name.is_empty() {
            return Err((line, format!("`{text}` has no name")));
        }
        let mut shares = Shares::Own(1.0);
        for option in options {
            let Some((key, value)) = option.split_once('=') else {
                return Err((line, format!("`{option}` is not of the form OPTION=VALUE")));
            };
            if key.eq_ignore_ascii_case("Fairshare") {
                shares = shares_of(line, unquoted(value))?;
            }
            if key.eq_ignore_ascii_case("Partition") && !unquoted(value).is_empty() {
                let problem = format!("shares of a single partition ({value}) are not supported");
                return Err((line, problem));
            }
        }
        let name = name.to_owned();
        match what {
            "Cluster" => {}
            "Parent" => above = book.account(line, &name)?,
            "Account" => book.add(Association { line, above, name, is_user: false, shares })?,
            "User" => book.add(Association { line, above, name, is_user: true, shares })?,
            _ => {
                let problem = format!("`{what}` is not Cluster, Parent, Account or User");
                return Err((line, problem));
            }
        }
    }
    Ok(book.all)
}

/// The pieces separated by `:` outside of quotes.
fn options_of(text: &str) -> Vec<&str> {
    let mut quote = None;
    text.split(move |letter: char| {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        quote.is_none() && letter == ':'
    })
    .collect()
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['\'', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, index: &str) {
        assert_eq!(Rule::read(text).map(|rule| rule.index), Ok(index.to_owned()));
    }

    #[test]
    fn the_rule_of_a_site_is_that_of_its_file() {
        check("ClusterName=c", "fair-tree:half_life_s=604800");
        check("PriorityFlags=FAIR_TREE,MAX_TRES\n", "fair-tree:half_life_s=604800");
        check(
            "# a comment\nClusterName=c SlurmctldPort=6817\nPriorityType=priority/multifactor\n\
             prioritydecayhalflife=14-0 # two weeks\nPriorityFlags=NO_FAIR_TREE\n\
             FairShareDampeningFactor=5\nPriorityWeightFairshare=100000\n\
             PartitionName=a Nodes=n[1-4] State=UP\n",
            "slurm:half_life_s=1209600,dampening=5",
        );
        check(
            "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY\n",
            "fair-tree:half_life_s=0,reset=monthly",
        );
        check("PriorityFlags=NO_FAIR_TREE, \\\nMAX_TRES", "slurm:half_life_s=604800");
        for (text, seconds) in
            [("600", 36_000), ("1:30", 90), ("2:00:00", 7200), ("1-12:30", 131_400)]
        {
            check(
                &format!("PriorityDecayHalfLife={text}"),
                &format!("fair-tree:half_life_s={seconds}"),
            );
        }
        // Blanks around `=`, as Slurm accepts them.
        check(
            "PriorityFlags = NO_FAIR_TREE FairShareDampeningFactor= \"5\" \n\
             PriorityDecayHalfLife\t=\t2-0",
            "slurm:half_life_s=172800,dampening=5",
        );
        // Keys of partitions do not belong to the rule.
        check(
            "PartitionName=DEFAULT PriorityJobFactor=10 Priority=3\n\
             partitionname=a Nodes=n[1-4] PriorityTier=2 State=UP\nNodeName=n[1-4] Priority=1\n\
             PriorityFlags=NO_FAIR_TREE\n",
            "slurm:half_life_s=604800",
        );
        let rule = Rule::read(
            "Include other.conf\nPartitionName=a TRESBillingWeights=\"CPU=1.0,Mem=0.25G\"\n",
        );
        assert_eq!(rule.unwrap().remarks.len(), 3);
    }

    #[test]
    fn settings_without_an_effect_are_named() {
        let rule = Rule::read(
            "PriorityDecayHalfLife=7-0\npriorityweightqos=5\nPriorityWeightAge=1000\nPriorityMaxAge=7-0\n",
        );
        let said = "not used, since fair-share factors do not depend on them: \
            PriorityMaxAge, PriorityWeightAge, PriorityWeightQOS";
        assert_eq!(rule.unwrap().remarks, [said]);
        assert!(Rule::read("PriorityDecayHalfLife=7-0\n").unwrap().remarks.is_empty());
    }

    #[test]
    fn a_setting_that_is_not_computed_is_refused_with_its_line() {
        let check = |text: &str, line: usize, problem: &str| {
            let wrong = Rule::read(text).unwrap_err();
            assert_eq!(wrong.0, line, "{wrong:?}");
            assert!(wrong.1.contains(problem), "{wrong:?}");
        };
        check("\nPriorityType=priority/basic", 2, "has no fair share");
        check("PriorityDecayHalfLife=a week", 1, "`a` is not a time");
        check("PriorityDecayHalfLife=1-2-3", 1, "is not a time");
        check("#\n#\nPriorityFlags=FAIRTREE", 3, "there is no flag `FAIRTREE`");
        check("PriorityFlags=DEPTH_OBLIVIOUS", 1, "is not computed");
        check("PriorityFlags=FAIR_TREE,NO_FAIR_TREE", 1, "exclude each other");
        check("PriorityUsageResetPeriod=14-0", 1, "is not one of none, now, daily");
        check("FairShareDampeningFactor=0", 1, "is not 1 or more");
        check("PriorityTier=2", 1, "no setting `PriorityTier`");
        check("# empty\n", 1, "the file has no settings");
        check("ClusterName=c\njunk", 2, "`junk` is not a setting KEY=VALUE");
        check("\nPriorityFlags =  ", 2, "`PriorityFlags` has no value");
        check("PriorityDecayHalfLife=\"\"", 1, "`PriorityDecayHalfLife` has no value");
        check("PriorityHalfLife=7-0", 1, "no setting `PriorityHalfLife`");
        check("PriorityFlags=MAX_TRES\nPriorityFlags=FAIR_TREE", 2, "set twice: in line 1");
    }

    /// The output of `sshare -a -l -P` with Fair Tree.
    const SSHARE: &str = "\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
root|||0.000000|1000||1.000000||||cpu=0,mem=0
 root|root|1|0.009901|0|0.000000|0.000000|1.000000|inf||cpu=0,mem=0
 physics||60|0.594059|700|0.700000|0.700000||0.848656||cpu=0,mem=0
  physics|alice|1|0.500000|700|0.700000|1.000000|0.250000|0.500000||cpu=0,mem=0
  theory||parent|0.594059|0|0.000000|0.000000||||cpu=0,mem=0
   theory|carol|parent|0.594059|0|0.000000|0.000000|0.500000|||cpu=0,mem=0
 biology||40|0.396040|300|0.300000|0.300000||1.320132||cpu=0,mem=0
  biology|bob|1|1.000000|300|0.300000|1.000000|0.750000|1.000000||cpu=0,mem=0
";

    /// The same as output of `sacctmgr dump`.
    const DUMP: &str = "\
# To edit this file start with a cluster line for the new cluster
# Cluster - 'cluster_name':MaxTRESPerJob=node=50
Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='all: of physics':Organization='physics':Fairshare=60
Account - 'biology':Description='biology':Organization='biology':Fairshare=40
Parent - 'physics'
User - 'alice':DefaultAccount='physics'
Account - 'theory':Description='theory':Organization='physics':Fairshare=2147483647
Parent - 'biology'
User - 'bob':DefaultAccount='biology':Fairshare=1
Parent - 'theory'
User - 'carol':DefaultAccount='theory':Fairshare=parent
";

    /// Names with the account and shares of each.
    fn told(text: &str) -> Vec<(String, String, Shares)> {
        let all = associations(text).expect("it is recognised").unwrap();
        let name =
            |above: Option<usize>| above.map_or("root".to_owned(), |idx| all[idx].name.clone());
        let mut told: Vec<_> =
            all.iter().map(|one| (one.name.clone(), name(one.above), one.shares)).collect();
        told.sort_by(|one, other| one.0.cmp(&other.0));
        told
    }

    #[test]
    fn both_programs_tell_the_same_associations() {
        assert_eq!(told(SSHARE), told(DUMP));
        let carol = &told(DUMP)[3];
        assert_eq!(
            (carol.0.as_str(), carol.1.as_str(), carol.2),
            ("carol", "theory", Shares::Parent)
        );
        // `sshare -p` ends lines with a `|`.
        let parsable = SSHARE.replace('\n', "|\n");
        assert_eq!(told(&parsable), told(SSHARE));
        assert!(associations("physics 60\nphysics/alice 1\n").is_none());
    }

    #[test]
    fn a_faulty_line_of_shares_is_named() {
        let check = |text: String, line: usize, problem: &str| {
            let wrong = associations(&text).expect("it is recognised").unwrap_err();
            assert_eq!(wrong.0, line, "{wrong:?}");
            assert!(wrong.1.contains(problem), "{wrong:?}");
        };
        check(SSHARE.replace("physics||60|", "physics||many|"), 4, "`many` is neither");
        check(SSHARE.replace('|', "   "), 1, "aligned with blanks and cut: use `sshare -a -l -P`");
        check(SSHARE.replace("|0.750000|1.000000||", "|"), 9, "fields, and the header has 11");
        check(SSHARE.replace("  biology|bob", "  geology|bob"), 9, "`geology` is not named above");
        check(SSHARE.replace("   theory|carol", "     theory||1|a"), 7, "fields");
        check(SSHARE.replace(" biology||", "    biology||"), 8, "4 deep");
        check(
            SSHARE.replace("carol", "alice").replace("theory|alice", "physics|alice"),
            7,
            "twice",
        );
        check(DUMP.replace("Parent - 'theory'", "Parent - 'chemistry'"), 13, "is not named above");
        check(DUMP.replace("Fairshare=40", "Fairshare=4.5"), 7, "`4.5` is neither");
        check(DUMP.replace("User - 'bob'", "User - 'bob':Partition='gpu'"), 12, "'gpu'");
        check(DUMP.replace("User - 'bob'", "Member - 'bob'"), 12, "not Cluster, Parent");
        check(DUMP.replace("Account - 'biology'", "Account - 'physics'"), 7, "listed twice");
        check(DUMP.replace("DefaultAccount='biology'", "biology"), 12, "OPTION=VALUE");
    }
}
