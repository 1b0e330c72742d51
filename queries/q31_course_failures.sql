-- Question: how often do jobs and tasks fail, by scheduling class?
-- Tables:   q01_job_outcomes, q02_task_outcomes, task_events
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    the scheduling class; -1 for all, -2 where it is unknown
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 9
-- jobs failed, jobs killed, tasks failed: those whose last terminal event is FAIL (or KILL), of all; this is the
--   outcome of q01 and q02 by the last terminal event.
-- jobs failed, of those that ended: the same, of jobs that ended.
-- tasks with a FAIL: tasks that failed once or more, of all, whatever their outcome.
WITH fails AS (
  SELECT job_id, task_index, MAX(CASE WHEN event_type = 3 THEN 1 ELSE 0 END) AS has_failed
  FROM task_events
  GROUP BY job_id, task_index
),
jobs AS (
  SELECT COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key,
         CASE WHEN outcome_terminal = 'failed' THEN 1 ELSE 0 END AS is_failed,
         CASE WHEN outcome_terminal = 'killed' THEN 1 ELSE 0 END AS is_killed,
         CASE WHEN outcome_terminal IN ('finished', 'failed', 'killed', 'evicted', 'lost') THEN 1 ELSE 0 END AS is_ended
  FROM q01_job_outcomes
),
tasks AS (
  SELECT COALESCE(CAST(t.scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key,
         CASE WHEN t.outcome_terminal = 'failed' THEN 1 ELSE 0 END AS is_failed,
         f.has_failed
  FROM q02_task_outcomes AS t
  JOIN fails AS f ON t.job_id = f.job_id AND t.task_index = f.task_index
),
counted AS (
  SELECT 'jobs failed' AS measure, group_key, is_failed AS is_in FROM jobs
  UNION ALL
  SELECT 'jobs killed' AS measure, group_key, is_killed AS is_in FROM jobs
  UNION ALL
  SELECT 'jobs failed, of those that ended' AS measure, group_key, is_failed AS is_in FROM jobs WHERE is_ended = 1
  UNION ALL
  SELECT 'tasks failed' AS measure, group_key, is_failed AS is_in FROM tasks
  UNION ALL
  SELECT 'tasks with a FAIL' AS measure, group_key, has_failed AS is_in FROM tasks
),
grouped AS (
  SELECT measure, group_key, is_in FROM counted
  UNION ALL
  SELECT measure, CAST(-1 AS DOUBLE) AS group_key, is_in FROM counted
),
sums AS (
  SELECT measure, group_key, CAST(SUM(is_in) AS DOUBLE) AS part, CAST(count(*) AS DOUBLE) AS whole
  FROM grouped
  GROUP BY measure, group_key
)
SELECT measure, group_key, part, whole, part / whole AS value
FROM sums
ORDER BY measure, group_key;
