-- Question: how many jobs and tasks does each scheduling class have?
-- Tables:   q01_job_outcomes, q02_task_outcomes, job_events, task_events
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    the scheduling class; -2 where it is unknown
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 3
-- jobs, tasks: each once, under its last class.
-- rows of jobs, rows of tasks: the rows of job_events and task_events, of which each job and task has several.
WITH counted AS (
  SELECT 'jobs' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key FROM q01_job_outcomes
  UNION ALL
  SELECT 'tasks' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key FROM q02_task_outcomes
  UNION ALL
  SELECT 'rows of jobs' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key FROM job_events
  UNION ALL
  SELECT 'rows of tasks' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key FROM task_events
),
parts AS (
  SELECT measure, group_key, CAST(count(*) AS DOUBLE) AS part
  FROM counted
  GROUP BY measure, group_key
),
wholes AS (
  SELECT measure, CAST(count(*) AS DOUBLE) AS whole
  FROM counted
  GROUP BY measure
)
SELECT p.measure, p.group_key, p.part, w.whole, p.part / w.whole AS value
FROM parts AS p
JOIN wholes AS w ON p.measure = w.measure
ORDER BY measure, group_key;
