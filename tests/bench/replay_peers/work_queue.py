"""Work queue, with or without copies, in SimPy: work_queue.py TASKS MACHINES fifo|wqr RUNS."""

import sys
import time

import simpy


def plain(tasks, speeds):
    env = simpy.Environment()
    left = [tasks]

    def node(speed):
        while left[0]:
            left[0] -= 1
            yield env.timeout(100.0 / speed)

    for speed in speeds:
        env.process(node(speed))
    env.run()
    return env.now


def replicated(tasks, speeds):
    env = simpy.Environment()
    left = [tasks]
    running = {}  # Task -> processes that run it, in the order of assignment.
    over = [0]
    last = [0.0]

    def node(speed, me):
        while over[0] < tasks:
            if left[0]:
                task = tasks - left[0]
                left[0] -= 1
                running[task] = [me[0]]
            else:
                task = min(running, key=lambda task: len(running[task]))
                running[task].append(me[0])
            try:
                yield env.timeout(100.0 / speed)
            except simpy.Interrupt:
                continue
            others = running.pop(task)
            over[0] += 1
            last[0] = env.now
            for other in others:
                if other is not me[0]:
                    other.interrupt()

    for speed in speeds:
        me = []
        me.append(env.process(node(speed, me)))
    env.run()
    return last[0]


def main():
    tasks, machines, policy, runs = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    speeds = [1.0 + 15.0 * (idx * 37 % machines) / machines for idx in range(machines)]
    run = {"fifo": plain, "wqr": replicated}[policy]
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        makespan = run(tasks, speeds)
        times.append(time.perf_counter() - begun)
    times.sort()
    print(f"simpy {tasks} {machines} {policy} best={tasks / times[0]:.0f} "
          f"median={tasks / times[len(times) // 2]:.0f} makespan_s={makespan:.6f}")


main()
