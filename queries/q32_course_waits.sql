-- Question: how long do jobs and tasks wait, by scheduling class?
-- Tables:   q01_job_outcomes, q02_task_outcomes, q17_attempt_facts, settings
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    the scheduling class; -1 for all, -2 where it is unknown
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 10
-- In seconds; a mean (part is the sum) and a median (the mean of the middle two of an even number).
-- tasks: from the first SUBMIT to the first SCHEDULE after it, of tasks that were submitted within the window and started.
-- jobs: from the first SUBMIT to the first SCHEDULE of the job, of jobs submitted within the window.
-- attempts: from each SUBMIT to its SCHEDULE, restarts included.
-- tasks, time 0 too: first SCHEDULE minus first SUBMIT, of tasks submitted before the window (at time 0) too.
WITH waits AS (
  SELECT 'tasks' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key, wait_us
  FROM q02_task_outcomes
  WHERE wait_end = 'started'
  UNION ALL
  SELECT 'jobs' AS measure, COALESCE(CAST(j.scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key,
         j.first_schedule_us - j.first_submit_us AS wait_us
  FROM q01_job_outcomes AS j
  CROSS JOIN settings AS s
  WHERE s.first_us <= j.first_submit_us AND j.first_submit_us <= j.first_schedule_us
    AND j.first_schedule_us < 9223372036854775807
  UNION ALL
  SELECT 'attempts' AS measure, COALESCE(CAST(t.scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key, a.wait_us
  FROM q17_attempt_facts AS a
  JOIN q02_task_outcomes AS t ON a.job_id = t.job_id AND a.task_index = t.task_index
  WHERE a.wait_us IS NOT NULL
  UNION ALL
  SELECT 'tasks, time 0 too' AS measure, COALESCE(CAST(scheduling_class AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key,
         first_schedule_us - first_submit_us AS wait_us
  FROM q02_task_outcomes
  WHERE first_submit_us <= first_schedule_us AND first_schedule_us < 9223372036854775807
),
grouped AS (
  SELECT measure, group_key, wait_us FROM waits
  UNION ALL
  SELECT measure, CAST(-1 AS DOUBLE) AS group_key, wait_us FROM waits
),
numbered AS (
  SELECT measure, group_key, CAST(wait_us AS DOUBLE) / CAST(1000000 AS DOUBLE) AS wait_s,
         CAST(row_number() OVER (PARTITION BY measure, group_key ORDER BY wait_us) AS BIGINT) AS place,
         CAST(count(*) OVER (PARTITION BY measure, group_key) AS BIGINT) AS wait_count
  FROM grouped
),
found AS (
  SELECT measure || ': mean' AS measure, group_key, SUM(wait_s) AS part, CAST(count(*) AS DOUBLE) AS whole,
         SUM(wait_s) / CAST(count(*) AS DOUBLE) AS value
  FROM numbered
  GROUP BY measure, group_key
  UNION ALL
  SELECT measure || ': median' AS measure, group_key, CAST(NULL AS DOUBLE) AS part, CAST(MAX(wait_count) AS DOUBLE) AS whole,
         SUM(CASE WHEN wait_count <= place * 2 AND place * 2 <= wait_count + 2 THEN wait_s ELSE 0 END)
           / SUM(CASE WHEN wait_count <= place * 2 AND place * 2 <= wait_count + 2 THEN CAST(1 AS DOUBLE) ELSE 0 END) AS value
  FROM numbered
  GROUP BY measure, group_key
)
SELECT measure, group_key, part, whole, value
FROM found
ORDER BY measure, group_key;
