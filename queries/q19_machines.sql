-- Question: what did each machine do: how long was it up, what ran on it, and how did that end?
-- Tables:   q03_attempts, q10_machine_periods, task_events, settings
-- Key:      machine_id
-- Columns:  machine_id        of machine_events
--           up_s              s in service, up to the end of the window; if times are dates, from the first
--                             event of a task on
--           outage_count      times that it left
--           attempt_count     attempts that ran on it
--           job_count         jobs with an attempt on it
--           evicted, failed, finished, killed, lost   attempts by the event that ended them
--           slots_s           s, running time of all attempts on it
--           requested_s       NCU-s, CPU requests times running time; no request is 0
--           not_finished_s    NCU-s, the same of attempts that ended with EVICT, FAIL, KILL or LOST
-- Used by:  users who compare machines
-- Attempts that start after the window (at 2^63-1) are left out. The window ends when the window of jobs
-- or the window of tasks ends, whichever is later.
WITH windows AS (
  SELECT CASE WHEN job_window_end_us < task_window_end_us THEN task_window_end_us ELSE job_window_end_us END AS end_us
  FROM settings
),
began AS (
  SELECT CASE WHEN 315360000000000 <= MIN(time_us) THEN MIN(time_us) ELSE 0 END AS first_us
  FROM task_events
),
cut AS (
  SELECT p.machine_id, p.event_type,
         CASE WHEN p.start_us < b.first_us THEN b.first_us ELSE p.start_us END AS start_us,
         CASE WHEN p.end_us IS NULL OR w.end_us < p.end_us THEN w.end_us ELSE p.end_us END AS end_us
  FROM q10_machine_periods AS p
  CROSS JOIN windows AS w
  CROSS JOIN began AS b
),
periods AS (
  SELECT machine_id,
         CAST(SUM(CASE WHEN event_type = 1 THEN 1 ELSE 0 END) AS BIGINT) AS outage_count,
         SUM(CASE WHEN event_type = 1 OR end_us < start_us THEN 0 ELSE end_us - start_us END)
           / CAST(1000000 AS DOUBLE) AS up_s
  FROM cut
  GROUP BY machine_id
),
runs AS (
  SELECT a.machine_id, a.job_id, a.ended_by,
         (COALESCE(a.end_us, s.task_window_end_us) - a.start_us) / CAST(1000000 AS DOUBLE) AS length_s,
         CASE WHEN a.cpu_request IS NULL THEN 0.0 ELSE CAST(a.cpu_request AS DOUBLE) END AS cpu
  FROM q03_attempts AS a
  CROSS JOIN settings AS s
  WHERE a.machine_id IS NOT NULL AND a.start_us < 9223372036854775807
),
ran AS (
  SELECT machine_id,
         CAST(count(*) AS BIGINT) AS attempt_count,
         CAST(count(DISTINCT job_id) AS BIGINT) AS job_count,
         CAST(SUM(CASE WHEN ended_by = 2 THEN 1 ELSE 0 END) AS BIGINT) AS evicted,
         CAST(SUM(CASE WHEN ended_by = 3 THEN 1 ELSE 0 END) AS BIGINT) AS failed,
         CAST(SUM(CASE WHEN ended_by = 4 THEN 1 ELSE 0 END) AS BIGINT) AS finished,
         CAST(SUM(CASE WHEN ended_by = 5 THEN 1 ELSE 0 END) AS BIGINT) AS killed,
         CAST(SUM(CASE WHEN ended_by = 6 THEN 1 ELSE 0 END) AS BIGINT) AS lost,
         SUM(length_s) AS slots_s,
         SUM(cpu * length_s) AS requested_s,
         SUM(CASE WHEN ended_by IN (2, 3, 5, 6) THEN cpu * length_s ELSE 0.0 END) AS not_finished_s
  FROM runs
  GROUP BY machine_id
)
SELECT p.machine_id, p.up_s, p.outage_count,
       COALESCE(r.attempt_count, 0) AS attempt_count,
       COALESCE(r.job_count, 0) AS job_count,
       COALESCE(r.evicted, 0) AS evicted,
       COALESCE(r.failed, 0) AS failed,
       COALESCE(r.finished, 0) AS finished,
       COALESCE(r.killed, 0) AS killed,
       COALESCE(r.lost, 0) AS lost,
       COALESCE(r.slots_s, 0.0) AS slots_s,
       COALESCE(r.requested_s, 0.0) AS requested_s,
       COALESCE(r.not_finished_s, 0.0) AS not_finished_s
FROM periods AS p
LEFT JOIN ran AS r ON p.machine_id = r.machine_id
ORDER BY p.machine_id;
