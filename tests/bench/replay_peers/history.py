"""Replays a log of a computing centre first come, first served, in SimPy: history.py LOG PROCESSORS.

LOG is SWF as text. A job starts when every job before it has started and enough processors are free, and takes its
recorded time. Prints the second at which each job ends, in the order of the log, and on stderr the seconds that the
simulation took.
"""

import sys
import time

import simpy


def job(env, room, submit, processors, run, ends, place):
    yield env.timeout(submit)
    # A container serves waiting processes strictly in order.
    yield room.get(processors)
    yield env.timeout(run)
    ends[place] = env.now
    yield room.put(processors)


def main():
    log, total = sys.argv[1], int(sys.argv[2])
    begun = time.perf_counter()
    env = simpy.Environment()
    room = simpy.Container(env, capacity=total, init=total)
    with open(log) as lines:
        rows = [[int(word) for word in line.split()[:5]] for line in lines if not line.startswith(";")]
    ends = [None] * len(rows)
    for place, (_, submit, _, run, processors) in enumerate(rows):
        env.process(job(env, room, submit, processors, run, ends, place))
    env.run()
    print(f"{time.perf_counter() - begun:.3f}", file=sys.stderr)
    print("\n".join(str(end) for end in ends))


main()
