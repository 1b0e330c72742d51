-- Question: which priorities are evicted how often?
-- Tables:   q02_task_outcomes, task_events
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    the priority; -1 for all, -2 where it is unknown
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 8
-- tasks: tasks with an EVICT or more, of all.
-- attempts: EVICT rows, of SCHEDULE rows.
-- rows: EVICT rows, of all rows.
-- of all evictions: EVICT rows, of those of all priorities.
-- A task counts under its last priority.
WITH events AS (
  SELECT job_id, task_index,
         SUM(CASE WHEN event_type = 2 THEN 1 ELSE 0 END) AS evictions,
         SUM(CASE WHEN event_type = 1 THEN 1 ELSE 0 END) AS attempts,
         count(*) AS row_count
  FROM task_events
  GROUP BY job_id, task_index
),
tasks AS (
  SELECT COALESCE(CAST(t.priority AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key, e.evictions, e.attempts, e.row_count
  FROM events AS e
  JOIN q02_task_outcomes AS t ON e.job_id = t.job_id AND e.task_index = t.task_index
),
grouped AS (
  SELECT group_key, evictions, attempts, row_count FROM tasks
  UNION ALL
  SELECT CAST(-1 AS DOUBLE) AS group_key, evictions, attempts, row_count FROM tasks
),
sums AS (
  SELECT group_key,
         CAST(SUM(CASE WHEN 0 < evictions THEN 1 ELSE 0 END) AS DOUBLE) AS evicted,
         CAST(count(*) AS DOUBLE) AS tasks,
         CAST(SUM(evictions) AS DOUBLE) AS evictions,
         CAST(SUM(attempts) AS DOUBLE) AS attempts,
         CAST(SUM(row_count) AS DOUBLE) AS row_count
  FROM grouped
  GROUP BY group_key
),
everything AS (
  SELECT evictions AS all_evictions FROM sums WHERE group_key = -1
),
shares AS (
  SELECT 'tasks' AS measure, group_key, evicted AS part, tasks AS whole FROM sums
  UNION ALL
  SELECT 'attempts' AS measure, group_key, evictions AS part, attempts AS whole FROM sums
  UNION ALL
  SELECT 'rows' AS measure, group_key, evictions AS part, row_count AS whole FROM sums
  UNION ALL
  SELECT 'of all evictions' AS measure, s.group_key, s.evictions AS part, e.all_evictions AS whole
  FROM sums AS s
  CROSS JOIN everything AS e
)
SELECT measure, group_key, part, whole, CASE WHEN 0 < whole THEN part / whole END AS value
FROM shares
ORDER BY measure, group_key;
