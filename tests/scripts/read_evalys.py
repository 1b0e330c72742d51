#!/usr/bin/env python3
"""Reads an export in the standard workload format with evalys, and compares it with the lines of the file.

    read_evalys.py LOG...

evalys 4.0.7 reads the first job of every log as a header (`pandas.read_csv(header=0)`). It also leaves out jobs with a
status above 1: 2 to 4 are parts of jobs, but 5 is a job that was killed. No log can avoid this, because an extra line
for evalys to drop would be a job for every other reader. All other fields of all other jobs must be equal.

Prints the number of jobs that evalys has of each log; SKIPPED if it is not installed. It needs pandas below 3:
`python3 -m venv evalys && evalys/bin/pip install evalys==4.0.7 'pandas<3'`.
"""

import sys
import warnings

try:
    warnings.simplefilter("ignore")
    from evalys.workload import Workload
except ImportError as error:
    print(f"SKIPPED: evalys is not installed: {error}")
    sys.exit()


def lines_of(path):
    """The header as a dictionary, and the 18 fields of each job."""
    header, jobs = {}, []
    with open(path, encoding="utf-8") as log:
        for line in log:
            if line.startswith(";"):
                key, _, value = line[1:].strip().partition(": ")
                header[key] = value
            else:
                jobs.append([float(field) for field in line.split()])
    return header, jobs


for path in sys.argv[1:]:
    header, jobs = lines_of(path)
    expected = [job for job in jobs[1:] if job[10] <= 1]
    read = Workload.from_csv(path)
    found = read.df.astype(float).values.tolist()
    assert len(found) == len(expected), (len(found), len(expected))
    for one, other in zip(found, expected):
        assert one == other, (one, other)
    for key in ("MaxJobs", "MaxProcs", "UnixStartTime"):
        if key in header:
            assert getattr(read, key) == int(header[key]), (key, getattr(read, key), header[key])
    print(len(found))
