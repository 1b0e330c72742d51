-- Question: how much ran in each hour, and what happened?
-- Tables:   q03_attempts, task_events, settings
-- Key:      hour_us
-- Columns:  hour_us          where the hour begins, counted from time 0
--           slots_s          task-s: running time of all attempts within the hour
--           requested_s      NCU-s: CPU requests times running time within the hour; no request is 0
--           submitted, started, evicted, failed, finished, killed, lost   events of tasks in the hour
-- Used by:  users who draw load over time; load --interval 1h has the same sums
-- An hour in which nothing happens to any task, and no attempt is closed, has no row. What holds at the
-- start of an hour is the sum of all earlier changes; what changes within it counts from then on.
WITH changes AS (
  SELECT start_us AS time_us, 1 AS tasks, COALESCE(CAST(cpu_request AS DOUBLE), 0.0) AS cpu
  FROM q03_attempts
  WHERE start_us < 9223372036854775807
  UNION ALL
  SELECT COALESCE(a.end_us, s.task_window_end_us) AS time_us, -1 AS tasks,
         -COALESCE(CAST(a.cpu_request AS DOUBLE), 0.0) AS cpu
  FROM q03_attempts AS a
  CROSS JOIN settings AS s
  WHERE a.start_us < 9223372036854775807
),
changed AS (
  SELECT time_us - time_us % 3600000000 AS hour_us,
         SUM(tasks) AS tasks, SUM(cpu) AS cpu,
         SUM(tasks * (3600000000 - time_us % 3600000000)) AS tasks_us,
         SUM(cpu * (3600000000 - time_us % 3600000000)) AS cpu_us
  FROM changes
  GROUP BY time_us - time_us % 3600000000
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
pieces AS (
  SELECT hour_us, submitted, started, evicted, failed, finished, killed, lost,
         0 AS tasks, CAST(0 AS DOUBLE) AS cpu, 0 AS tasks_us, CAST(0 AS DOUBLE) AS cpu_us
  FROM events
  UNION ALL
  SELECT hour_us, 0 AS submitted, 0 AS started, 0 AS evicted, 0 AS failed, 0 AS finished, 0 AS killed, 0 AS lost,
         tasks, cpu, tasks_us, cpu_us
  FROM changed
),
hours AS (
  SELECT hour_us,
         CAST(SUM(submitted) AS BIGINT) AS submitted, CAST(SUM(started) AS BIGINT) AS started,
         CAST(SUM(evicted) AS BIGINT) AS evicted, CAST(SUM(failed) AS BIGINT) AS failed,
         CAST(SUM(finished) AS BIGINT) AS finished, CAST(SUM(killed) AS BIGINT) AS killed,
         CAST(SUM(lost) AS BIGINT) AS lost,
         SUM(tasks) AS tasks, SUM(cpu) AS cpu, SUM(tasks_us) AS tasks_us, SUM(cpu_us) AS cpu_us
  FROM pieces
  GROUP BY hour_us
),
levels AS (
  SELECT *,
         SUM(tasks) OVER (ORDER BY hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - tasks AS tasks_before,
         SUM(cpu) OVER (ORDER BY hour_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - cpu AS cpu_before
  FROM hours
)
SELECT hour_us,
       (tasks_before * CAST(3600000000 AS DOUBLE) + tasks_us) / CAST(1000000 AS DOUBLE) AS slots_s,
       (cpu_before * CAST(3600000000 AS DOUBLE) + cpu_us) / CAST(1000000 AS DOUBLE) AS requested_s,
       submitted, started, evicted, failed, finished, killed, lost
FROM levels
ORDER BY hour_us;
