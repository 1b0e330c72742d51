-- Question: how much ran and waited in each hour, on what, and what happened?
-- Tables:   q03_attempts, task_events, settings
-- Optional: job_events, machine_events
-- Key:      hour_us
-- Columns:  hour_us          where the hour begins, counted from time 0
--           slots_s          task-s: running time of all attempts within the hour
--           requested_s      NCU-s: CPU requests times running time within the hour; no request is 0
--           requested_memory_s   NMU-s (or what the log has): the same of memory requests
--           waiting_s        task-s: from each SUBMIT until the task is scheduled or ends, or its job has ended
--           cpu_capacity_s, memory_capacity_s   NCU-s and NMU-s of the machines in service; null where no
--                            machine has a known one
--           submitted, started, evicted, failed, finished, killed, lost   events of tasks in the hour
-- Used by:  users who draw load over time; load --interval 1h has the same sums
-- Every hour has a row from that of the first event of a task to the last in which a task runs or waits
-- or has an event (up to a million hours). The state at the start of an hour is the sum of all earlier
-- changes; a change within the hour counts from its own time on. From ADD to REMOVE, a machine has its last
-- known capacity. The windows of used CPU are those of q06.
WITH starts AS (
  SELECT job_id, task_index, memory_request,
         CAST(row_number() OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS BIGINT) AS attempt
  FROM task_events
  WHERE event_type = 1
),
held AS (
  SELECT a.start_us AS from_us, COALESCE(a.end_us, s.task_window_end_us) AS to_us,
         COALESCE(CAST(a.cpu_request AS DOUBLE), 0.0) AS cpu,
         COALESCE(CAST(b.memory_request AS DOUBLE), 0.0) AS memory
  FROM q03_attempts AS a
  JOIN starts AS b ON a.job_id = b.job_id AND a.task_index = b.task_index AND a.attempt = b.attempt
  CROSS JOIN settings AS s
  WHERE a.start_us < 9223372036854775807
),
last_events AS (
  SELECT job_id, time_us, event_type,
         row_number() OVER (PARTITION BY job_id ORDER BY time_us DESC, row_id DESC) AS place
  FROM job_events
  WHERE event_type IN (0, 1, 2, 3, 4, 5, 6)
),
job_ends AS (
  SELECT d.job_id, d.time_us AS ended_us
  FROM last_events AS d
  CROSS JOIN settings AS s
  WHERE d.place = 1 AND d.event_type IN (2, 3, 4, 5, 6)
    AND d.time_us < s.task_window_end_us AND s.open_attempts = 'job-end'
),
followed AS (
  SELECT job_id, event_type, time_us,
         lead(time_us) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS next_us
  FROM task_events
  WHERE event_type IN (0, 1, 2, 3, 4, 5, 6)
),
waits AS (
  SELECT f.time_us AS from_us,
         CASE WHEN COALESCE(f.next_us, j.ended_us, s.task_window_end_us) < s.task_window_end_us
              THEN COALESCE(f.next_us, j.ended_us, s.task_window_end_us)
              ELSE s.task_window_end_us END AS to_us
  FROM followed AS f
  LEFT JOIN job_ends AS j ON f.job_id = j.job_id
  CROSS JOIN settings AS s
  WHERE f.event_type = 0 AND f.time_us < s.task_window_end_us
),
moves AS (
  SELECT machine_id, event_type, time_us, cpu_capacity, memory_capacity,
         lead(time_us) OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS next_us,
         SUM(CASE WHEN event_type IN (0, 1) THEN 1 ELSE 0 END)
           OVER (PARTITION BY machine_id ORDER BY time_us, row_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS move_number,
         SUM(CASE WHEN cpu_capacity IS NULL THEN 0 ELSE 1 END)
           OVER (PARTITION BY machine_id ORDER BY time_us, row_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cpu_number,
         SUM(CASE WHEN memory_capacity IS NULL THEN 0 ELSE 1 END)
           OVER (PARTITION BY machine_id ORDER BY time_us, row_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS memory_number
  FROM machine_events
),
carried AS (
  SELECT time_us, next_us,
         MAX(CASE WHEN event_type = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY machine_id, move_number) AS is_away,
         MAX(cpu_capacity) OVER (PARTITION BY machine_id, cpu_number) AS cpu,
         MAX(memory_capacity) OVER (PARTITION BY machine_id, memory_number) AS memory
  FROM moves
),
up AS (
  SELECT c.time_us AS from_us,
         CASE WHEN c.next_us < s.task_window_end_us THEN c.next_us ELSE s.task_window_end_us END AS to_us,
         COALESCE(CAST(c.cpu AS DOUBLE), 0.0) AS cpu,
         COALESCE(CAST(c.memory AS DOUBLE), 0.0) AS memory
  FROM carried AS c
  CROSS JOIN settings AS s
  WHERE c.is_away = 0 AND c.time_us < s.task_window_end_us
),
known AS (
  SELECT CAST(count(cpu_capacity) AS BIGINT) AS cpus, CAST(count(memory_capacity) AS BIGINT) AS memories
  FROM machine_events
),
changes AS (
  SELECT from_us AS time_us, 1 AS tasks, cpu, memory, 0 AS waiting,
         CAST(0 AS DOUBLE) AS cpu_capacity, CAST(0 AS DOUBLE) AS memory_capacity, 1 AS is_of_tasks
  FROM held
  UNION ALL
  SELECT to_us AS time_us, -1 AS tasks, -cpu AS cpu, -memory AS memory, 0 AS waiting,
         CAST(0 AS DOUBLE) AS cpu_capacity, CAST(0 AS DOUBLE) AS memory_capacity, 1 AS is_of_tasks
  FROM held
  UNION ALL
  SELECT from_us AS time_us, 0 AS tasks, CAST(0 AS DOUBLE) AS cpu, CAST(0 AS DOUBLE) AS memory, 1 AS waiting,
         CAST(0 AS DOUBLE) AS cpu_capacity, CAST(0 AS DOUBLE) AS memory_capacity, 1 AS is_of_tasks
  FROM waits
  WHERE from_us < to_us
  UNION ALL
  SELECT to_us AS time_us, 0 AS tasks, CAST(0 AS DOUBLE) AS cpu, CAST(0 AS DOUBLE) AS memory, -1 AS waiting,
         CAST(0 AS DOUBLE) AS cpu_capacity, CAST(0 AS DOUBLE) AS memory_capacity, 1 AS is_of_tasks
  FROM waits
  WHERE from_us < to_us
  UNION ALL
  SELECT from_us AS time_us, 0 AS tasks, CAST(0 AS DOUBLE) AS cpu, CAST(0 AS DOUBLE) AS memory, 0 AS waiting,
         cpu AS cpu_capacity, memory AS memory_capacity, 0 AS is_of_tasks
  FROM up
  UNION ALL
  SELECT to_us AS time_us, 0 AS tasks, CAST(0 AS DOUBLE) AS cpu, CAST(0 AS DOUBLE) AS memory, 0 AS waiting,
         -cpu AS cpu_capacity, -memory AS memory_capacity, 0 AS is_of_tasks
  FROM up
),
rest AS (
  SELECT time_us - time_us % 3600000000 AS hour_us, 3600000000 - time_us % 3600000000 AS rest_us,
         tasks, cpu, memory, waiting, cpu_capacity, memory_capacity, is_of_tasks
  FROM changes
),
changed AS (
  SELECT hour_us, MAX(is_of_tasks) AS is_of_tasks,
         SUM(tasks) AS tasks, SUM(tasks * rest_us) AS tasks_us,
         SUM(cpu) AS cpu, SUM(cpu * rest_us) AS cpu_us,
         SUM(memory) AS memory, SUM(memory * rest_us) AS memory_us,
         SUM(waiting) AS waiting, SUM(waiting * rest_us) AS waiting_us,
         SUM(cpu_capacity) AS cpu_capacity, SUM(cpu_capacity * rest_us) AS cpu_capacity_us,
         SUM(memory_capacity) AS memory_capacity, SUM(memory_capacity * rest_us) AS memory_capacity_us
  FROM rest
  GROUP BY hour_us
),
events AS (
  SELECT time_us - time_us % 3600000000 AS hour_us,
         CAST(SUM(CASE WHEN event_type = 0 THEN 1 ELSE 0 END) AS BIGINT) AS submitted,
         CAST(SUM(CASE WHEN event_type = 1 THEN 1 ELSE 0 END) AS BIGINT) AS started,
         CAST(SUM(CASE WHEN event_type = 2 THEN 1 ELSE 0 END) AS BIGINT) AS evicted,
         CAST(SUM(CASE WHEN event_type = 3 THEN 1 ELSE 0 END) AS BIGINT) AS failed,
         CAST(SUM(CASE WHEN event_type = 4 THEN 1 ELSE 0 END) AS BIGINT) AS finished,
         CAST(SUM(CASE WHEN event_type = 5 THEN 1 ELSE 0 END) AS BIGINT) AS killed,
         CAST(SUM(CASE WHEN event_type = 6 THEN 1 ELSE 0 END) AS BIGINT) AS lost
  FROM task_events
  WHERE time_us < 9223372036854775807
  GROUP BY time_us - time_us % 3600000000
),
busy AS (
  SELECT hour_us FROM changed WHERE is_of_tasks = 1
  UNION
  SELECT hour_us FROM events
),
span AS (
  SELECT MIN(b.hour_us) AS first_us,
         MAX(CASE WHEN s.task_window_end_us < b.hour_us THEN s.task_window_end_us - s.task_window_end_us % 3600000000
                  ELSE b.hour_us END) AS last_us
  FROM busy AS b
  CROSS JOIN settings AS s
),
digits AS (
  SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS given (digit)
),
thousands AS (
  SELECT 100 * a.digit + 10 * b.digit + c.digit AS number
  FROM digits AS a
  CROSS JOIN digits AS b
  CROSS JOIN digits AS c
),
each_hour AS (
  SELECT p.first_us + CAST(1000 * a.number + b.number AS BIGINT) * 3600000000 AS hour_us, p.last_us
  FROM thousands AS a
  CROSS JOIN thousands AS b
  CROSS JOIN span AS p
),
hours AS (
  SELECT hour_us FROM changed
  UNION
  SELECT hour_us FROM each_hour WHERE hour_us <= last_us
),
levels AS (
  SELECT h.hour_us,
         COALESCE(c.tasks_us, 0) - 3600000000 * COALESCE(c.tasks, 0) AS tasks_us,
         COALESCE(c.cpu_us, 0.0) - 3600000000 * COALESCE(c.cpu, 0.0) AS cpu_us,
         COALESCE(c.memory_us, 0.0) - 3600000000 * COALESCE(c.memory, 0.0) AS memory_us,
         COALESCE(c.waiting_us, 0) - 3600000000 * COALESCE(c.waiting, 0) AS waiting_us,
         COALESCE(c.cpu_capacity_us, 0.0) - 3600000000 * COALESCE(c.cpu_capacity, 0.0) AS cpu_capacity_us,
         COALESCE(c.memory_capacity_us, 0.0) - 3600000000 * COALESCE(c.memory_capacity, 0.0) AS memory_capacity_us,
         SUM(COALESCE(c.tasks, 0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS tasks,
         SUM(COALESCE(c.cpu, 0.0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cpu,
         SUM(COALESCE(c.memory, 0.0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS memory,
         SUM(COALESCE(c.waiting, 0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS waiting,
         SUM(COALESCE(c.cpu_capacity, 0.0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cpu_capacity,
         SUM(COALESCE(c.memory_capacity, 0.0)) OVER (ORDER BY h.hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS memory_capacity,
         COALESCE(e.submitted, 0) AS submitted, COALESCE(e.started, 0) AS started,
         COALESCE(e.evicted, 0) AS evicted, COALESCE(e.failed, 0) AS failed,
         COALESCE(e.finished, 0) AS finished, COALESCE(e.killed, 0) AS killed, COALESCE(e.lost, 0) AS lost
  FROM hours AS h
  LEFT JOIN changed AS c ON h.hour_us = c.hour_us
  LEFT JOIN events AS e ON h.hour_us = e.hour_us
)
SELECT l.hour_us,
       (l.tasks * CAST(3600000000 AS DOUBLE) + l.tasks_us) / CAST(1000000 AS DOUBLE) AS slots_s,
       (l.cpu * CAST(3600000000 AS DOUBLE) + l.cpu_us) / CAST(1000000 AS DOUBLE) AS requested_s,
       (l.memory * CAST(3600000000 AS DOUBLE) + l.memory_us) / CAST(1000000 AS DOUBLE) AS requested_memory_s,
       (l.waiting * CAST(3600000000 AS DOUBLE) + l.waiting_us) / CAST(1000000 AS DOUBLE) AS waiting_s,
       CASE WHEN 0 < k.cpus THEN (l.cpu_capacity * CAST(3600000000 AS DOUBLE) + l.cpu_capacity_us) / CAST(1000000 AS DOUBLE) END AS cpu_capacity_s,
       CASE WHEN 0 < k.memories THEN (l.memory_capacity * CAST(3600000000 AS DOUBLE) + l.memory_capacity_us) / CAST(1000000 AS DOUBLE) END AS memory_capacity_s,
       l.submitted, l.started, l.evicted, l.failed, l.finished, l.killed, l.lost
FROM levels AS l
CROSS JOIN known AS k
CROSS JOIN span AS p
WHERE p.first_us <= l.hour_us AND l.hour_us <= p.last_us
ORDER BY l.hour_us;
