//! The words by which a proposal recognises columns, units, states and missing values.

use super::super::map::Field;

/// Names of columns, as lower-case letters and digits; the first name that a table has is used.
pub(super) const NAMES: [(Field, &str); 24] = [
    (
        Field::Job,
        "jobid jobidraw jid job jobnummer jobnr jobkennung auftragsnummer auftragsnr auftragsid auftragid auftragskennung auftrag id \
        jobname nr nummer",
    ),
    (
        Field::User,
        "user userid username usr owner benutzer nutzer anwender benutzername benutzerkennung",
    ),
    (
        Field::Submit,
        "submit submittime submitted submittedtime submission submissiontime qtime created \
        queued queuedat createtime creationtime adt eingereicht eingereichtam abgeschickt \
        abgeschicktam einreichung einreichungszeit abgabe abgabezeit submitdatum einreichungsdatum abgabedatum",
    ),
    (
        Field::Start,
        "start starttime started startedat begin begintime begun began sdt beginn gestartet \
        gestartetam startzeit startzeitpunkt begonnen begonnenam anfang startdatum beginndatum startdate",
    ),
    (
        Field::End,
        "end endtime ended finish finishtime finished finishedat completed stop stoptime edt \
        ende beendet beendetam endzeit endezeit endzeitpunkt fertig fertigam enddatum enddate",
    ),
    (
        Field::Run,
        "runtime run elapsed elapsedraw duration walltime wallclock laufzeit dauer rechenzeit",
    ),
    (
        Field::Wait,
        "wait waittime waiting queuetime queuewait queuewaittime wartezeit wartedauer gewartet",
    ),
    (
        Field::State,
        "state status jobstate jobstatus exitstate result outcome zustand ergebnis exitcode \
        exitstatus rueckgabewert",
    ),
    (
        Field::Cpus,
        "cpus cpu cores cpucores cpucount corecount ncpus alloccpus reqcpus processors nproc numcpus \
        cpunum numcoresalloc numcores cnumr slots kerne cpukerne prozessoren anzahlkerne",
    ),
    (
        Field::Memory,
        "memory mem reqmem ram memreq memalloc speicher \
        arbeitsspeicher hauptspeicher speicherbedarf hauptspeicherbedarf arbeitsspeicherbedarf",
    ),
    (
        Field::Gpus,
        "gpus gpu gpucount gpucards ngpus numgpus gpunum numgpusalloc gpuanzahl grafikkarten",
    ),
    (Field::GpuModel, "gpumodel gputype gpuspec"),
    (
        Field::TimeLimit,
        "timelimit limit walltimelimit walllimit reqtime requestedtime requestedwalltime zeitlimit \
        zeitgrenze elpl",
    ),
    (Field::CpuTime, "cputime totalcpu cpuzeit"),
    (Field::UsedMemory, "usedmemory maxrss memused memoryused belegterspeicher"),
    (Field::Name, "name jobname program executable jnam bezeichnung programm auftragsname"),
    (Field::Account, "account project vc projekt konto kostenstelle"),
    (Field::Group, "group groupid groupname gruppe institut abteilung"),
    (Field::Queue, "queue partition warteschlange klasse"),
    (Field::Qos, "qos"),
    (Field::Cluster, "cluster rechner"),
    (Field::Priority, "priority prio prioritaet"),
    (Field::Nodes, "nodes nnodes numnodes nodenum numnodesalloc nnumr knoten anzahlknoten"),
    (
        Field::Machines,
        "nodelist host hostname machine machineid hosts knotenliste maschine \
        knoten nodes knotenname",
    ),
];

/// Units, each with the endings of column names for it.
pub(super) const UNIT_ENDS: [(&str, &str); 14] = [
    ("us", "us"),
    ("ms", "ms"),
    ("s", "s sec secs seconds sek sekunden insekunden inseconds ins"),
    ("min", "min mins minutes minuten inminuten inminutes inmin"),
    ("h", "h hours stunden instunden inh std"),
    ("bytes", "bytes"),
    ("KB", "kb"),
    ("MB", "mb inmb"),
    ("GB", "gb ingb"),
    ("KiB", "kib"),
    ("MiB", "mib"),
    ("GiB", "gib ingib"),
    ("milli-cores", "milli"),
    ("percent", "percent"),
];

/// Words for missing values.
pub(super) const MISSING_WORDS: [&str; 15] = [
    "Unknown",
    "unknown",
    "None",
    "NULL",
    "null",
    "NaN",
    "nan",
    "N/A",
    "n/a",
    "NA",
    "-",
    "k.A.",
    "keine Angabe",
    "unbekannt",
    "-1",
];

/// Outcomes, each with the words for it: letters and digits only, in lower case.
pub(super) const FATE_WORDS: [(&str, &str); 7] = [
    (
        "finished",
        "completed complete finished succeeded success successful terminated pass passed done ok \
        cd fertig beendet erfolgreich abgeschlossen",
    ),
    (
        "failed",
        "failed failure fail error timeout outofmemory oom oomkilled deadline fehlgeschlagen \
        fehler fehlerhaft zeitueberschreitung speicherueberlauf abgestuerzt gescheitert",
    ),
    (
        "killed",
        "cancelled canceled killed aborted deleted interrupted abbruch abgebrochen storniert geloescht \
        gestoppt",
    ),
    ("evicted", "preempted evicted requeued verdraengt"),
    ("lost", "nodefail bootfail lost knotenausfall verloren"),
    ("running", "running suspended laeuft laufend rechnet angehalten"),
    ("pending", "pending queued waiting wartet wartend inwarteschlange"),
];

/// Patterns of times, the most usual first.
pub(super) const PATTERNS: [&str; 12] = [
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%y %H:%M:%S",
    "%d.%m.%y %H:%M",
    "%d.%m.%Y, %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%Y%m%d%H%M%S",
    "%F %H:%M:%S %z",
];

/// What to check if no column was recognised as the job.
pub(super) const NO_JOB: &str = "CHECK: without it, each row is another job; ";

/// What to check in a column of texts. Numbers in a `queue` may be times in the queue, as in Helios
/// and Acme.
pub(super) fn doubt<'a>(field: Field, mut cells: impl Iterator<Item = &'a str>) -> Option<String> {
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    let says = "its cells are numbers; a time in the queue is `wait`, with a unit";
    (field == Field::Queue && cells.all(is_number)).then(|| says.to_owned())
}
