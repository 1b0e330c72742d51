// Work queue, with or without copies, in SimGrid: work_queue TASKS MACHINES fifo|wqr. One run per
// process, because a process can create only one SimGrid engine.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

static long left_tasks, task_count, over;
static double last_end;
static std::map<long, std::vector<sg4::ExecPtr>> running;

static void plain() {
  while (left_tasks > 0) {
    left_tasks--;
    sg4::this_actor::execute(100.0);
  }
  last_end = sg4::Engine::get_clock();
}

static void replicated() {
  while (over < task_count) {
    long task;
    if (left_tasks > 0) {
      task = task_count - left_tasks--;
    } else {
      auto best = running.begin();
      for (auto it = running.begin(); it != running.end(); ++it)
        if (it->second.size() < best->second.size()) best = it;
      task = best->first;
    }
    sg4::ExecPtr exec = sg4::this_actor::exec_init(100.0);
    running[task].push_back(exec);
    exec->start();
    try {
      exec->wait();
    } catch (const simgrid::CancelException&) {
      continue;
    }
    auto found = running.find(task);
    if (found == running.end()) continue;
    std::vector<sg4::ExecPtr> others = std::move(found->second);
    running.erase(found);
    over++;
    last_end = sg4::Engine::get_clock();
    for (auto& other : others)
      if (other != exec) other->cancel();
  }
}

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  task_count = left_tasks = atol(argv[1]);
  const long machines = atol(argv[2]);
  const bool copies = std::string(argv[3]) == "wqr";
  auto* zone = sg4::create_full_zone("zone");
  for (long idx = 0; idx < machines; idx++)
    zone->create_host("m" + std::to_string(idx), 1.0 + 15.0 * (idx * 37 % machines) / machines)->seal();
  zone->seal();
  for (auto* host : engine.get_all_hosts()) sg4::Actor::create("node", host, copies ? replicated : plain);
  const auto begun = std::chrono::steady_clock::now();
  engine.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  printf("simgrid %ld %ld %s rate=%.0f makespan_s=%.6f\n", task_count, machines, argv[3], task_count / seconds,
         last_end);
}
