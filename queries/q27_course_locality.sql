-- Question: do tasks of one job run on the same machine?
-- Tables:   q03_attempts
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    -1 (all)
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 5
-- one machine: jobs of which all attempts ran on one machine, of jobs with two or more tasks that ran.
-- one machine, jobs of one task too: the same, of all jobs with a task that ran.
-- fewer, as many, more machines than tasks: jobs, of those with two or more tasks that ran.
WITH jobs AS (
  SELECT job_id, count(DISTINCT task_index) AS tasks, count(DISTINCT machine_id) AS machines
  FROM q03_attempts
  WHERE machine_id IS NOT NULL AND start_us < 9223372036854775807
  GROUP BY job_id
),
sums AS (
  SELECT CAST(count(*) AS DOUBLE) AS jobs,
         CAST(COALESCE(SUM(CASE WHEN machines = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS on_one,
         CAST(COALESCE(SUM(CASE WHEN 1 < tasks THEN 1 ELSE 0 END), 0) AS DOUBLE) AS large,
         CAST(COALESCE(SUM(CASE WHEN 1 < tasks AND machines = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS large_on_one,
         CAST(COALESCE(SUM(CASE WHEN 1 < tasks AND machines < tasks THEN 1 ELSE 0 END), 0) AS DOUBLE) AS fewer,
         CAST(COALESCE(SUM(CASE WHEN 1 < tasks AND machines = tasks THEN 1 ELSE 0 END), 0) AS DOUBLE) AS equal,
         CAST(COALESCE(SUM(CASE WHEN 1 < tasks AND tasks < machines THEN 1 ELSE 0 END), 0) AS DOUBLE) AS more
  FROM jobs
),
shares AS (
  SELECT 'one machine' AS measure, large_on_one AS part, large AS whole FROM sums
  UNION ALL
  SELECT 'one machine, jobs of one task too' AS measure, on_one AS part, jobs AS whole FROM sums
  UNION ALL
  SELECT 'fewer machines than tasks' AS measure, fewer AS part, large AS whole FROM sums
  UNION ALL
  SELECT 'as many machines as tasks' AS measure, equal AS part, large AS whole FROM sums
  UNION ALL
  SELECT 'more machines than tasks' AS measure, more AS part, large AS whole FROM sums
)
SELECT measure, CAST(-1 AS DOUBLE) AS group_key, part, whole, CASE WHEN 0 < whole THEN part / whole END AS value
FROM shares
ORDER BY measure, group_key;
