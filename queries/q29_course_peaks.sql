-- Question: are peaks of use and evictions correlated?
-- Tables:   q18_cluster_by_hour, task_events
-- Optional: task_usage
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    -1 (all)
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 7
-- A correlation has 6 decimals, because further ones depend on the order in which an engine adds. It is null
--   if the differences from the mean are below a thousandth of the values (root mean squares).
-- All three are Pearson's correlation.
-- hours, requested: CPU requested of the cluster in an hour, and EVICT rows in it, over the hours of q18.
-- hours, running: the same with the time that tasks run.
-- machines, five minutes: the sum of max_cpu_rate over the usage windows of a machine that start in five minutes,
--   and EVICT rows of the machine in these minutes; over the machines and times that have a usage window.
WITH cells AS (
  SELECT machine_id, start_time_us - start_time_us % 300000000 AS cell_us,
         SUM(COALESCE(CAST(max_cpu_rate AS DOUBLE), CAST(0 AS DOUBLE))) AS peak
  FROM task_usage
  GROUP BY machine_id, start_time_us - start_time_us % 300000000
),
evictions AS (
  SELECT machine_id, time_us - time_us % 300000000 AS cell_us, CAST(count(*) AS DOUBLE) AS evicted
  FROM task_events
  WHERE event_type = 2 AND machine_id IS NOT NULL
  GROUP BY machine_id, time_us - time_us % 300000000
),
pairs AS (
  SELECT 'hours, requested' AS measure, requested_s AS x, CAST(evicted AS DOUBLE) AS y FROM q18_cluster_by_hour
  UNION ALL
  SELECT 'hours, running' AS measure, slots_s AS x, CAST(evicted AS DOUBLE) AS y FROM q18_cluster_by_hour
  UNION ALL
  SELECT 'machines, five minutes' AS measure, c.peak AS x, COALESCE(e.evicted, CAST(0 AS DOUBLE)) AS y
  FROM cells AS c
  LEFT JOIN evictions AS e ON c.machine_id = e.machine_id AND c.cell_us = e.cell_us
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
)
SELECT measure, CAST(-1 AS DOUBLE) AS group_key, CAST(NULL AS DOUBLE) AS part, pair_count AS whole,
       CASE WHEN x_squares * 0.000001 < xx AND y_squares * 0.000001 < yy
            THEN CAST(FLOOR(xy / NULLIF(SQRT(xx * yy), CAST(0 AS DOUBLE)) * 1000000 + CAST(0.5 AS DOUBLE)) AS DOUBLE)
                 / 1000000 END AS value
FROM sums
ORDER BY measure, group_key;
