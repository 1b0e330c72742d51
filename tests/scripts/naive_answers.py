#!/usr/bin/env python3
"""Answers every query over a small trace by brute force, from the definitions in queries/.

Usage: naive_answers.py TRACE_DIR OUT_DIR THRESHOLD,... SWF

Reads the raw parts (plain CSV) and, for columns that only logs have, the log, and writes OUT_DIR/qNN_name.csv. It is
independent of the SQL in queries/: it reads no query and uses no engine, only the standard library. Tests compare its
answers with the golden ones.
"""

import csv
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from course_crosscheck import course, raw

AFTER = 2**63 - 1
TERMINAL = "23456"
SEQUENCE_OUTCOMES = {"014": "finished", "013": "failed", "015": "killed", "01": "running"}
TERMINAL_OUTCOMES = {"2": "evicted", "3": "failed", "4": "finished", "5": "killed", "6": "lost"}
EVENTS = "SUBMIT SCHEDULE EVICT FAIL FINISH KILL LOST UPDATE_PENDING UPDATE_RUNNING QUEUE ENABLE".split()
HOUR = 3_600_000_000
DATED = 315_360_000_000_000  # Later times are dates.
COURSE = ("q23_course_machines q24_course_capacity q25_course_classes q26_course_evictions q27_course_locality "
          "q28_course_requests q29_course_peaks q30_course_priorities q31_course_failures q32_course_waits").split()


def rows(trace, table):
    """Yields (part, line, fields) of a table."""
    for path in sorted((trace / table).glob("part-*.csv")):
        part = int(path.name[5:10])
        with path.open(newline="") as file:
            for line, fields in enumerate(csv.reader(file), 1):
                yield (part << 40) + line, fields


def time_of(text):
    return min(int(text), AFTER)


def number(text):
    return Fraction(text) if text else None


class Event:
    def __init__(self, row_id, time, kind, **more):
        self.row_id, self.time, self.kind = row_id, time, kind
        self.__dict__.update(more)


def histories(trace, table):
    """Events by job, or by (job, task), in (time, row_id) order."""
    found = defaultdict(list)
    for row_id, f in rows(trace, table):
        if table == "job_events":
            key = (int(f[2]),)
            more = {"user": f[4], "klass": f[5], "name": f[6]}
            kind = f[3]
        else:
            key = (int(f[2]), int(f[3]))
            more = {"machine": f[4], "user": f[6], "klass": f[7], "priority": f[8], "request": number(f[9]), "memory": number(f[10])}
            kind = f[5]
        found[key].append(Event(row_id, time_of(f[0]), kind, **more))
    for events in found.values():
        events.sort(key=lambda event: (event.time, event.row_id))
    return dict(sorted(found.items()))


def last_time(histories_):
    return max(e.time for events in histories_.values() for e in events if e.time < AFTER)


def terminal_outcome(events):
    deciding = [e.kind for e in events if e.kind in "01" + TERMINAL]
    if not deciding:
        return "unknown"
    last = deciding[-1]
    return TERMINAL_OUTCOMES.get(last) or ("pending" if last == "0" else "running")


def first(events, kind):
    return min((e.time for e in events if e.kind == kind), default=None)


def outcome(events):
    sequence = "".join(e.kind for e in events)
    return [sequence, len(events), SEQUENCE_OUTCOMES.get(sequence, "other"), terminal_outcome(events),
            min(e.time for e in events), first(events, "0"), first(events, "1"), max(e.time for e in events)]


def largest(values):
    return max((value for value in values if value), default=None)


def last_seen(values):
    values = [value for value in values if value != ""]
    return int(values[-1]) if values else None


class Attempt:
    def __init__(self, number_, schedule, end, kind):
        self.number, self.schedule, self.end, self.kind = number_, schedule, end, kind

    def is_closed(self):
        """Whether the attempt has no recorded end and is closed with its job."""
        return self.end is not None and self.kind is None

    def ended(self):
        """Returns how it ended, by name."""
        if self.kind is None:
            return "open" if self.end is None else "with job"
        return "rescheduled" if self.kind == 1 else TERMINAL_OUTCOMES[str(self.kind)]

    def span(self, window_end):
        """Returns (start, end) of running; an open attempt ends with the window."""
        end = window_end if self.end is None else self.end
        return self.schedule.time, max(end, self.schedule.time)


def end_of_job(events):
    """The last terminal event, if no SUBMIT or SCHEDULE follows it."""
    deciding = [e for e in events if e.kind in "01" + TERMINAL]
    return deciding[-1].time if deciding and deciding[-1].kind in TERMINAL else None


def attempts_of(events, job_end, window_end):
    """Returns attempts: from each SCHEDULE to the next terminal event or SCHEDULE within the window; without one, to
    the end of its job, if that is before the end of the window."""
    found = []
    for place, event in enumerate(events):
        if event.kind != "1":
            continue
        ends = [e for e in events[place + 1:] if e.kind in "1" + TERMINAL]
        end = ends[0] if ends and ends[0].time < AFTER else None
        time, kind = (end.time, int(end.kind)) if end else (None, None)
        if not end and event.time < AFTER and job_end is not None and job_end < window_end:
            time = max(event.time, job_end)
        found.append(Attempt(len(found) + 1, event, time, kind))
    return found


def submit_before(events, schedule):
    """The SUBMIT that an attempt waited from: the last deciding event before it, if that is one."""
    before = [e for e in events[:events.index(schedule)] if e.kind in "01" + TERMINAL]
    return before[-1].time if before and before[-1].kind == "0" else None


def waiting(events, job_end, window_end):
    """When a task ended, whether it is open, how long it waited, and how the wait ended."""
    ended = end_of_job(events)
    job_end = job_end if job_end is not None and job_end < window_end else None
    is_open = (ended is None or window_end < ended) and job_end is None
    known = [ended, "true" if is_open else "false"]
    kinds = [e.kind for e in events]
    if "0" not in kinds:
        return [*known, None, None]
    place = kinds.index("0")
    submit = events[place].time
    if submit == 0 or window_end < submit:
        return [*known, None, None]
    if "1" in kinds[place:]:
        start = events[place + kinds[place:].index("1")].time
        return [*known, start - submit, "started"] if start <= window_end else [*known, window_end - submit, "open"]
    last = events[-1]
    end = last.time if last.kind in TERMINAL and last.time <= window_end else job_end
    return [*known, window_end - submit, "open"] if end is None else [*known, max(end - submit, 0), "ended"]


def overlap(one, other):
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def seconds(micros):
    return float(Fraction(micros) / 1_000_000)


class Window:
    def __init__(self, row_id, fields, window_end):
        self.row_id = row_id
        end = time_of(fields[1])
        self.span = (time_of(fields[0]), window_end if end == AFTER else end)
        self.machine = int(fields[4])
        self.rate = number(fields[5])
        self.canonical, self.assigned = number(fields[6]), number(fields[7])

    def length(self):
        return max(0, self.span[1] - self.span[0])


def machine_periods(trace):
    found = defaultdict(list)
    for row_id, f in rows(trace, "machine_events"):
        found[int(f[1])].append((time_of(f[0]), row_id, int(f[2]), number(f[4]), number(f[5])))
    return {machine: sorted(events) for machine, events in sorted(found.items())}


def capacity_at(periods, machine, time):
    """Returns the last capacity known by then, or else the first known one."""
    known = [(start, cpu) for start, _, _, cpu, _ in periods.get(machine, []) if cpu is not None]
    before = [cpu for start, cpu in known if start <= time]
    return before[-1] if before else (known[0][1] if known else None)


def time_up(events, window):
    """Returns how long a machine was in service, and how often it left."""
    up, since, outages = 0, None, 0
    for time, _, kind, _, _ in events:
        if since is not None:
            up += overlap((since, time), window)
        since = None if kind == 1 else time
        outages += kind == 1
    return up + (overlap((since, AFTER), window) if since is not None else 0), outages


def times_up(events, window_end, resource):
    """Returns the spells in service of a machine, each with its last known capacity."""
    found, is_there, capacity = [], False, None
    for place, event in enumerate(events):
        is_there = event[2] == 0 or event[2] == 2 and (is_there or place == 0)
        capacity = capacity if event[resource] is None else event[resource]
        until = min(events[place + 1][0] if place + 1 < len(events) else AFTER, window_end)
        if is_there and event[0] < window_end:
            found.append((event[0], until, capacity))
    return found


def waits_of(events, job_end, window_end):
    """From each SUBMIT to the next deciding event, or the end of the job, within the window."""
    deciding = [e for e in events if e.kind in "01" + TERMINAL]
    job_end = job_end if job_end is not None and job_end < window_end else window_end
    found = []
    for place, event in enumerate(deciding):
        if event.kind == "0" and event.time < window_end:
            until = deciding[place + 1].time if place + 1 < len(deciding) else job_end
            if event.time < min(until, window_end):
                found.append((event.time, min(until, window_end)))
    return found


def hour_of(time):
    return time // HOUR * HOUR


def weighted_mean(pairs):
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / total if total else None


def main(trace, out, thresholds, log):
    jobs, tasks = histories(trace, "job_events"), histories(trace, "task_events")
    job_end, task_end = last_time(jobs), last_time(tasks)
    ends = {job: end_of_job(events) for (job,), events in jobs.items()}
    attempts = {task: attempts_of(events, ends.get(task[0]), task_end) for task, events in tasks.items()}
    windows = defaultdict(list)
    for row_id, fields in rows(trace, "task_usage"):
        windows[(int(fields[2]), int(fields[3]))].append(Window(row_id, fields, task_end))
    windows = dict(sorted(windows.items()))
    periods = machine_periods(trace)
    crossings = [(task, t, events[t].time) for task, events in tasks.items()
                 for t in thresholds if t < len(events)]
    out.mkdir(parents=True, exist_ok=True)

    def write(name, header, lines):
        with (out / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header.split())
            writer.writerows(["" if cell is None else (float(cell) if isinstance(cell, Fraction) else cell)
                              for cell in line] for line in lines)

    facts = "sequence event_count outcome_sequence outcome_terminal first_event_us first_submit_us first_schedule_us last_event_us user"
    write("q01_job_outcomes", f"job_id {facts} job_name scheduling_class",
          [[*job, *outcome(ev), largest(e.user for e in ev), largest(e.name for e in ev),
            last_seen([e.klass for e in ev])] for job, ev in jobs.items()])
    write("q02_task_outcomes", f"job_id task_index {facts} scheduling_class priority ended_us is_open wait_us wait_end",
          [[*task, *outcome(ev), largest(e.user for e in ev), last_seen([e.klass for e in ev]),
            last_seen([e.priority for e in ev]), *waiting(ev, ends.get(task[0]), task_end)]
           for task, ev in tasks.items()])
    write("q03_attempts", "job_id task_index attempt machine_id cpu_request start_us end_us ended_by",
          [[*task, a.number, a.schedule.machine, a.schedule.request, a.schedule.time, a.end, a.kind]
           for task, all_ in attempts.items() for a in all_])
    sizes = defaultdict(lambda: [0, 0])
    for (job, _), ev in tasks.items():
        sizes[job][0] += 1
        sizes[job][1] += len(ev)
    write("q04_job_sizes", "job_id task_count event_count", [[job, *size] for job, size in sorted(sizes.items())])

    def held(all_, since=0, until=AFTER):
        spans = [(overlap(a.span(task_end), (since, until)), a.schedule.request or 0) for a in all_]
        return seconds(sum(s for s, _ in spans)), seconds(sum(s * r for s, r in spans))

    def closed(all_):
        return [a for a in all_ if a.is_closed()]

    write("q05_cpu_held", "job_id task_index attempt_count slots_s requested_s attempts_without_request "
          "attempts_closed_with_job closed_slots_s closed_requested_s",
          [[*task, len(all_), *held(all_), sum(a.schedule.request is None for a in all_),
            len(closed(all_)), *held(closed(all_))] for task, all_ in attempts.items() if all_])
    inside = [(task, w, a, max(w.span[0], a.span(task_end)[0]), min(w.span[1], a.span(task_end)[1]))
              for task, all_ in windows.items() for w in all_ for a in attempts.get(task, [])
              if overlap(w.span, a.span(task_end))]
    inside.sort(key=lambda each: (each[0], each[1].row_id, each[2].number))
    write("q06_windows_in_attempts", "job_id task_index window_id attempt start_us end_us mean_cpu_rate",
          [[*task, w.row_id, a.number, start, end, float(w.rate or 0)] for task, w, a, start, end in inside])
    inside_us, closed_us = defaultdict(int), defaultdict(int)
    for _, w, a, start, end in inside:
        inside_us[w.row_id] += end - start
        closed_us[w.row_id] += end - start if a.is_closed() else 0

    def measured(all_):
        in_order = sorted(all_, key=lambda w: (w.span[0], w.row_id))
        late = sum(any(w.span[0] < e.span[1] for e in in_order[:place]) for place, w in enumerate(in_order))
        return [len(all_), sum(w.rate is None for w in all_), late,
                seconds(sum((w.rate or 0) * inside_us[w.row_id] for w in all_)),
                seconds(sum((w.rate or 0) * (w.length() - inside_us[w.row_id]) for w in all_)),
                seconds(sum((w.rate or 0) * closed_us[w.row_id] for w in all_))]

    write("q07_cpu_measured",
          "job_id task_index window_count windows_without_rate windows_overlapping measured_s outside_s closed_measured_s",
          [[*task, *measured(all_)] for task, all_ in windows.items()])
    write("q08_crossings", "job_id task_index threshold condemned_us",
          [[*task, t, at] for task, t, at in crossings])
    write("q09_held_after_crossings", "job_id task_index threshold condemned_us saved_slots_s saved_requested_s",
          [[*task, t, at, *held(attempts[task], at)] for task, t, at in crossings])
    write("q10_machine_periods", "machine_id period start_us end_us event_type cpu_capacity memory_capacity",
          [[machine, place + 1, start, events[place + 1][0] if place + 1 < len(events) else None, kind,
            *(("0.0", "0.0") if kind == 1 else (cpu, memory))]
           for machine, events in periods.items() for place, (start, _, kind, cpu, memory) in enumerate(events)])

    def published(job, ev):
        begin = first(ev, "1")
        end = max(e.time for e in ev)
        if terminal_outcome(ev) in ("pending", "running", "unknown") or job_end < end:
            end = job_end
        of_job = [w for task, all_ in windows.items() if task[0] == job for w in all_ if w.length()]
        rate = weighted_mean([(w.length(), w.rate) for w in of_job if w.rate is not None])
        placed = [(w.length(), capacity_at(periods, w.machine, w.span[0])) for w in of_job]
        size = weighted_mean([(length, cpu) for length, cpu in placed if cpu is not None])
        duration = seconds(end - begin)
        known = rate is not None and size is not None
        return [job, duration, rate, size, float(duration * rate * size) if known else 0.0]

    write("q11_cpu_published", "job_id duration_s mean_rate mean_capacity published_s",
          [published(job[0], ev) for job, ev in jobs.items() if (first(ev, "1") or AFTER) < AFTER or first(ev, "1") == 0])
    write("q12_measured_after_crossings", "job_id task_index threshold saved_measured_s",
          [[*task, t, seconds(sum(w.rate * overlap((start, end), (at, AFTER))
                                  for of, w, _, start, end in inside if of == task and w.rate))]
           for task, t, at in crossings])

    users = {job[0]: largest(e.user for e in ev) for job, ev in jobs.items()}
    charged = defaultdict(lambda: [0, 0, 0])
    for task, all_ in attempts.items():
        for a in (a for a in all_ if a.end is not None):
            hour = charged[(users.get(task[0]) or "-", hour_of(a.end))]
            length = a.end - a.schedule.time
            hour[:] = hour[0] + 1, hour[1] + length, hour[2] + length * (a.schedule.request or 0)
    write("q13_usage_by_user_hour", "user hour_us attempt_count slots_s requested_s",
          [[*key, count, seconds(slots), seconds(requested)]
           for key, (count, slots, requested) in sorted(charged.items())])
    write("q14_job_requests", "job_id user_group executable queue partition requested_processors "
          "requested_time_us requested_memory_kib processors cpu_time_us used_memory_kib", requests(log))

    def memory_held(all_):
        return seconds(sum((a.span(task_end)[1] - a.span(task_end)[0]) * (a.schedule.memory or 0) for a in all_))

    write("q15_memory_held", "job_id task_index requested_memory_s attempts_without_memory closed_requested_memory_s",
          [[*task, memory_held(all_), sum(a.schedule.memory is None for a in all_), memory_held(closed(all_))]
           for task, all_ in attempts.items() if all_])

    def memory_measured(all_, amount):
        amounts = [(amount(w), w) for w in all_]
        return [sum(one is None for one, _ in amounts),
                seconds(sum((one or 0) * inside_us[w.row_id] for one, w in amounts)),
                seconds(sum((one or 0) * (w.length() - inside_us[w.row_id]) for one, w in amounts)),
                seconds(sum((one or 0) * closed_us[w.row_id] for one, w in amounts))]

    kinds = [f"windows_without_{kind} {kind}_memory_s outside_{kind}_memory_s closed_{kind}_memory_s"
             for kind in ("canonical", "assigned")]
    write("q16_memory_measured", f"job_id task_index window_count windows_overlapping {kinds[0]} {kinds[1]}",
          [[*task, measured(all_)[0], measured(all_)[2], *memory_measured(all_, lambda w: w.canonical),
            *memory_measured(all_, lambda w: w.assigned)] for task, all_ in windows.items()])

    of_job = {job: [users[job], last_seen([e.klass for e in ev]),
                    largest(e.name for e in ev), *outcome(ev)[2:4]] for (job,), ev in jobs.items()}

    measured_in = defaultdict(int)
    for task, w, a, start, end in inside:
        measured_in[task, a.number] += (w.rate or 0) * (end - start)

    def attempt_facts(task, a):
        ev = tasks[task]
        submit = submit_before(ev, a.schedule)
        wait = a.schedule.time - submit if submit and a.schedule.time < AFTER else None
        return [*task, a.number, a.schedule.machine, a.schedule.request, a.schedule.memory, *a.span(task_end),
                "true" if a.end is None else "false", a.kind, a.ended(), submit, wait,
                *held([a]), seconds(measured_in[task, a.number]) if (task, a.number) in measured_in else None,
                last_seen([e.priority for e in ev]), *outcome(ev)[2:4],
                *of_job.get(task[0], [None] * 5)]

    write("q17_attempt_facts", "job_id task_index attempt machine_id cpu_request memory_request start_us end_us "
          "is_open ended_by ended submit_us wait_us slots_s requested_s measured_s priority task_outcome_sequence "
          "task_outcome_terminal user scheduling_class job_name job_outcome_sequence job_outcome_terminal",
          [attempt_facts(task, a) for task, all_ in attempts.items() for a in all_])
    ran = [(task, a) for task, all_ in attempts.items() for a in all_ if a.schedule.time < AFTER]
    waits = [wait for (job, _), ev in tasks.items() for wait in waits_of(ev, ends.get(job), task_end)]
    there = {resource: [span for events in periods.values() for span in times_up(events, task_end, resource)]
             for resource in (3, 4)}
    happened = {hour_of(a.span(task_end)[1]): [0] * 7 for _, a in ran}
    for event in (e for ev in tasks.values() for e in ev if e.time < AFTER):
        counts = happened.setdefault(hour_of(event.time), [0] * 7)
        if event.kind in "01" + TERMINAL:
            counts[int(event.kind)] += 1

    busy = {*happened, *(hour_of(at) for since, until in waits if since < until for at in (since, until))}

    def in_hour(spans, hour):
        return seconds(sum((amount or 0) * overlap((since, until), (hour, hour + HOUR)) for since, until, amount in spans))

    def capacity(hour, resource):
        is_known = any(event[resource] is not None for events in periods.values() for event in events)
        return in_hour(there[resource], hour) if is_known else None

    memory = [(*a.span(task_end), a.schedule.memory) for _, a in ran]
    write("q18_cluster_by_hour", "hour_us slots_s requested_s requested_memory_s waiting_s cpu_capacity_s "
          "memory_capacity_s submitted started evicted failed finished killed lost",
          [[hour, *held([a for _, a in ran], hour, hour + HOUR), in_hour(memory, hour),
            in_hour([(*wait, 1) for wait in waits], hour), capacity(hour, 3), capacity(hour, 4),
            *happened.get(hour, [0] * 7)]
           for hour in range(min(busy, default=0), min(max(busy, default=-1), hour_of(task_end)) + 1, HOUR)])

    def machine(number_):
        first_us = min((e.time for ev in tasks.values() for e in ev), default=0)
        window = (first_us if DATED <= first_us else 0, max(job_end, task_end))
        up, outages = time_up(periods[number_], window)
        here = [(task, a) for task, a in ran if a.schedule.machine == str(number_)]
        all_ = [a for _, a in here]
        kinds = [a.kind for a in all_]
        return [number_, seconds(up), outages, len(here), len({job for (job, _), _ in here}),
                *(kinds.count(int(kind)) for kind in TERMINAL_OUTCOMES), *held(all_),
                held([a for a in all_ if a.kind in (2, 3, 5, 6)])[1]]

    write("q19_machines", "machine_id up_s outage_count attempt_count job_count evicted failed finished killed lost "
          "slots_s requested_s not_finished_s", [machine(each) for each in periods])
    submitted = sorted((first(ev, "0"), job, users[job]) for (job,), ev in jobs.items()
                       if users[job] and first(ev, "0") is not None)
    latest, previous = {}, []
    for submit, job, user in submitted:
        before = latest.get(user)
        latest[user] = job
        known = [None] * 5
        if before is not None:
            ev = jobs[before,]
            last = max(e.time for e in ev)
            had_ended = ends[before] is not None and last < submit
            known = [before, first(ev, "0"), terminal_outcome(ev), last,
                     "true" if had_ended else "false"]
        previous.append([job, user, submit, terminal_outcome(jobs[job,]), *known])
    write("q20_previous_jobs", "job_id user first_submit_us outcome_terminal previous_job_id previous_submit_us "
          "previous_outcome_terminal previous_last_us is_known", previous)

    def eviction(task, a, again):
        back = [None] * 3
        if again:
            away = again.schedule.time - a.end if again.schedule.time < AFTER else None
            back = [again.schedule.time, again.schedule.machine, away]
        user, klass = of_job.get(task[0], [None] * 2)[:2]
        return [*task, a.number, a.schedule.machine, user, last_seen([e.priority for e in tasks[task]]), klass,
                a.schedule.request, a.schedule.memory, a.schedule.time, a.end, *held([a]), *back]

    write("q21_evictions", "job_id task_index attempt machine_id user priority scheduling_class cpu_request "
          "memory_request start_us evicted_us slots_s requested_s restart_us restart_machine_id away_us",
          [eviction(task, a, again) for task, all_ in attempts.items()
           for a, again in zip(all_, [*all_[1:], None]) if a.kind == 2])
    kinds_of = [[e.kind for ev in table.values() for e in ev] for table in (jobs, tasks)]
    write("q22_event_types", "event_type event job_event_count task_event_count",
          [[kind, EVENTS[kind], *(kinds.count(str(kind)) for kinds in kinds_of)] for kind in range(len(EVENTS))
           if any(str(kind) in kinds for kinds in kinds_of)])
    found = course(raw(trace), job_end, task_end)
    for number, name in enumerate(COURSE, 1):
        write(name, "measure group_key part whole value",
              [[measure, group, *(None if cell is None else float(cell) for cell in cells)]
               for (question, measure, group), cells in sorted(found.items()) if question == number])


def requests(log):
    """Returns the values that a log in the standard workload format records of each job in addition to its events."""
    whole, pieces = {}, defaultdict(list)
    for line in log.read_text().splitlines():
        fields = line.split()
        if not fields or line.startswith(";"):
            continue
        try:
            job, *numbers = [Fraction(field) for field in fields]
        except ValueError:
            continue
        if numbers[9] in (2, 3, 4):
            pieces[int(job)].append(numbers)
        else:
            whole.setdefault(int(job), [numbers])

    def said(lines, field, scale=1):
        known = [line[field] * scale for line in lines if line[field] != -1]
        return int(max(known)) if known else ""

    # Field 2 of the format is the first of these numbers.
    return [[job, *(said(lines, field) for field in (11, 12, 13, 14, 6)), said(lines, 7, 10**6),
             said(lines, 8), said(lines, 3), said(lines, 4, 10**6), said(lines, 5)]
            for job, lines in sorted({**pieces, **whole}.items())]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(each) for each in sys.argv[3].split(",")], Path(sys.argv[4]))
