-- Question: how much CPU did each job use by the definition of the paper of 2017?
-- Tables:   q01_job_outcomes, task_usage, machine_events, settings
-- Key:      job_id
-- Columns:  job_id
--           duration_s      first SCHEDULE to last event; an unended job to the window's end
--           mean_rate       NCU, mean CPU rate over the job's windows, weighted by their length
--           mean_capacity   share, CPU capacity of the windows' machines, weighted alike
--           published_s     duration_s * mean_rate * mean_capacity; 0 without windows
-- Used by:  account --cpu published
-- A usage window that ends after the trace (at 2^63-1) is open; it is closed at the end of the
-- window of job_events. The mean rate leaves out usage windows without a rate, and the mean
-- capacity leaves out those on machines of unknown capacity. The capacity is the last one known at
-- the start of the usage window, or else the first one known.
WITH closed AS (
  SELECT u.job_id, u.row_id, u.machine_id, u.start_time_us, u.mean_cpu_rate,
         CASE WHEN u.end_time_us = 9223372036854775807 THEN s.job_window_end_us ELSE u.end_time_us END
           - u.start_time_us AS length_us
  FROM task_usage AS u
  CROSS JOIN settings AS s
),
windows AS (
  SELECT * FROM closed WHERE 0 < length_us
),
capacities AS (
  SELECT machine_id, time_us AS start_us, cpu_capacity,
         row_number() OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS known,
         lead(time_us) OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS end_us
  FROM machine_events
  WHERE cpu_capacity IS NOT NULL
),
placed AS (
  SELECT w.job_id, w.length_us, CAST(c.cpu_capacity AS DOUBLE) AS cpu_capacity
  FROM windows AS w
  JOIN capacities AS c ON w.machine_id = c.machine_id
  WHERE (c.start_us <= w.start_time_us OR c.known = 1)
    AND (c.end_us IS NULL OR w.start_time_us < c.end_us)
),
rates AS (
  SELECT job_id, SUM(CAST(mean_cpu_rate AS DOUBLE) * length_us) / SUM(length_us) AS mean_rate
  FROM windows
  WHERE mean_cpu_rate IS NOT NULL
  GROUP BY job_id
),
sizes AS (
  SELECT job_id, SUM(cpu_capacity * length_us) / SUM(length_us) AS mean_capacity
  FROM placed
  GROUP BY job_id
),
durations AS (
  SELECT j.job_id,
         CASE WHEN j.outcome_terminal IN ('pending', 'running', 'unknown') OR s.job_window_end_us < j.last_event_us
              THEN s.job_window_end_us ELSE j.last_event_us END - j.first_schedule_us AS duration_us
  FROM q01_job_outcomes AS j
  CROSS JOIN settings AS s
  WHERE j.first_schedule_us < 9223372036854775807
)
SELECT d.job_id, d.duration_us / CAST(1000000 AS DOUBLE) AS duration_s, r.mean_rate, z.mean_capacity,
       COALESCE(d.duration_us / CAST(1000000 AS DOUBLE) * r.mean_rate * z.mean_capacity, 0.0) AS published_s
FROM durations AS d
LEFT JOIN rates AS r ON d.job_id = r.job_id
LEFT JOIN sizes AS z ON d.job_id = z.job_id
ORDER BY d.job_id;
