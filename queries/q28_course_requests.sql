-- Question: do tasks that request more resources use more?
-- Tables:   task_events, task_usage
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    -1 (all)
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 6
-- A correlation has 6 decimals, because further ones depend on the order in which an engine adds. It is null
--   if the differences from the mean are below a thousandth of the values (root mean squares).
-- The request of a task is the largest of its rows, its use the mean of its usage windows, weighted by their
-- lengths; a window without a rate is 0. Windows without length or with an end after the trace, tasks without a
-- request and tasks without a window are left out.
-- CPU, memory: Pearson's correlation of request and use over tasks.
-- CPU by row: the same over the rows of task_usage.
-- CPU over request: the correlation of the request with use over request, of tasks that request more than 0.
-- CPU used: use of CPU times time, over requests times time; each has 6 decimals.
WITH requests AS (
  SELECT job_id, task_index,
         MAX(CAST(cpu_request AS DOUBLE)) AS cpu, MAX(CAST(memory_request AS DOUBLE)) AS memory
  FROM task_events
  GROUP BY job_id, task_index
),
windows AS (
  SELECT u.job_id, u.task_index,
         CAST(u.end_time_us - u.start_time_us AS DOUBLE) / CAST(1000000 AS DOUBLE) AS length_s,
         COALESCE(CAST(u.mean_cpu_rate AS DOUBLE), CAST(0 AS DOUBLE)) AS cpu_use,
         COALESCE(CAST(u.canonical_memory AS DOUBLE), CAST(0 AS DOUBLE)) AS memory_use,
         r.cpu, r.memory
  FROM task_usage AS u
  JOIN requests AS r ON u.job_id = r.job_id AND u.task_index = r.task_index
  WHERE u.start_time_us < u.end_time_us AND u.end_time_us < 9223372036854775807
),
tasks AS (
  SELECT job_id, task_index, MAX(cpu) AS cpu, MAX(memory) AS memory,
         SUM(cpu_use * length_s) / SUM(length_s) AS cpu_use, SUM(memory_use * length_s) / SUM(length_s) AS memory_use
  FROM windows
  GROUP BY job_id, task_index
),
pairs AS (
  SELECT 'CPU' AS measure, cpu AS x, cpu_use AS y FROM tasks WHERE cpu IS NOT NULL
  UNION ALL
  SELECT 'memory' AS measure, memory AS x, memory_use AS y FROM tasks WHERE memory IS NOT NULL
  UNION ALL
  SELECT 'CPU by row' AS measure, cpu AS x, cpu_use AS y FROM windows WHERE cpu IS NOT NULL
  UNION ALL
  SELECT 'CPU over request' AS measure, cpu AS x, cpu_use / cpu AS y FROM tasks WHERE 0 < cpu
),
means AS (
  SELECT measure, SUM(x) / CAST(count(*) AS DOUBLE) AS x_mean, SUM(y) / CAST(count(*) AS DOUBLE) AS y_mean
  FROM pairs
  GROUP BY measure
),
sums AS (
  SELECT p.measure, CAST(count(*) AS DOUBLE) AS pair_count,
         SUM((p.x - m.x_mean) * (p.y - m.y_mean)) AS xy,
         SUM((p.x - m.x_mean) * (p.x - m.x_mean)) AS xx, SUM((p.y - m.y_mean) * (p.y - m.y_mean)) AS yy,
         SUM(p.x * p.x) AS x_squares, SUM(p.y * p.y) AS y_squares
  FROM pairs AS p
  JOIN means AS m ON p.measure = m.measure
  GROUP BY p.measure
),
used AS (
  SELECT count(*) AS window_count,
         CAST(FLOOR(SUM(cpu_use * length_s) * 1000000 + CAST(0.5 AS DOUBLE)) AS DOUBLE) / 1000000 AS part,
         CAST(FLOOR(SUM(cpu * length_s) * 1000000 + CAST(0.5 AS DOUBLE)) AS DOUBLE) / 1000000 AS whole
  FROM windows
  WHERE cpu IS NOT NULL
),
found AS (
  SELECT measure, CAST(NULL AS DOUBLE) AS part, pair_count AS whole,
         CASE WHEN x_squares * 0.000001 < xx AND y_squares * 0.000001 < yy
              THEN CAST(FLOOR(xy / NULLIF(SQRT(xx * yy), CAST(0 AS DOUBLE)) * 1000000 + CAST(0.5 AS DOUBLE)) AS DOUBLE)
                   / 1000000 END AS value
  FROM sums
  UNION ALL
  SELECT 'CPU used' AS measure, part, whole, CASE WHEN 0 < whole THEN part / whole END AS value
  FROM used
  WHERE 0 < window_count
)
SELECT measure, CAST(-1 AS DOUBLE) AS group_key, part, whole, value
FROM found
ORDER BY measure, group_key;
