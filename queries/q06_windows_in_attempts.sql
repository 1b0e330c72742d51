-- Question: which part of each usage window lies inside an attempt of its task?
-- Tables:   task_usage, q03_attempts, settings
-- Key:      job_id, task_index, window_id, attempt
-- Columns:  job_id, task_index
--           window_id            row_id of the window
--           attempt
--           start_us, end_us     the part of the window inside the attempt
--           mean_cpu_rate        NCU; 0 where the window has none
-- Used by:  q07, q12
-- An open attempt, and a usage window that ends after the trace (at 2^63-1), are closed at the end
-- of the window of task_events.
SELECT * FROM (
  SELECT u.job_id, u.task_index, u.row_id AS window_id, a.attempt,
         CASE WHEN u.start_time_us < a.start_us THEN a.start_us ELSE u.start_time_us END AS start_us,
         CASE WHEN COALESCE(a.end_us, s.task_window_end_us) < u.end_time_us
              THEN COALESCE(a.end_us, s.task_window_end_us) ELSE u.end_time_us END AS end_us,
         CASE WHEN u.mean_cpu_rate IS NULL THEN CAST(0 AS REAL) ELSE u.mean_cpu_rate END AS mean_cpu_rate
  FROM task_usage AS u
  JOIN q03_attempts AS a ON u.job_id = a.job_id AND u.task_index = a.task_index
  CROSS JOIN settings AS s) AS clipped
WHERE start_us < end_us
ORDER BY job_id, task_index, window_id, attempt;
