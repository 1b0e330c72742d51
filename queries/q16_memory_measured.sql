-- Question: how much memory was measured of each task, inside its attempts and outside them?
-- Tables:   task_usage, q03_attempts, q06_windows_in_attempts, settings
-- Key:      job_id, task_index
-- Columns:  job_id, task_index
--           window_count
--           windows_overlapping           start before an earlier window of the task has ended
--           windows_without_canonical     counted as 0 because they have no canonical memory
--           canonical_memory_s            NMU-s inside attempts
--           outside_canonical_memory_s    NMU-s outside attempts
--           closed_canonical_memory_s     the part of it in attempts that are closed with their job
--           windows_without_assigned, assigned_memory_s, outside_assigned_memory_s,
--           closed_assigned_memory_s      the same of the assigned memory: what the container had
-- Used by:  account --resource memory --memory canonical, assigned
-- Memory is a share of the memory of the largest machine (NMU), as a mean over the usage window. A
-- usage window that ends after the trace (at 2^63-1) is closed with task_events, as in q07.
WITH closed AS (
  SELECT u.job_id, u.task_index, u.row_id, u.start_time_us, u.canonical_memory, u.assigned_memory,
         CASE WHEN u.end_time_us = 9223372036854775807 THEN s.task_window_end_us ELSE u.end_time_us END AS end_time_us
  FROM task_usage AS u
  CROSS JOIN settings AS s
),
windows AS (
  SELECT job_id, task_index, row_id, start_time_us, end_time_us, canonical_memory, assigned_memory,
         MAX(end_time_us) OVER (PARTITION BY job_id, task_index ORDER BY start_time_us, row_id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest_end_us
  FROM closed
),
followed AS (
  SELECT job_id, task_index, row_id AS window_id, start_time_us, end_time_us, canonical_memory, assigned_memory,
         lag(latest_end_us) OVER (PARTITION BY job_id, task_index ORDER BY start_time_us, row_id) AS earlier_end_us
  FROM windows
),
insides AS (
  SELECT w.job_id, w.task_index, w.window_id, SUM(w.end_us - w.start_us) AS inside_us,
         SUM(CASE WHEN a.ended_by IS NULL AND a.end_us IS NOT NULL THEN w.end_us - w.start_us ELSE 0 END) AS closed_us
  FROM q06_windows_in_attempts AS w
  JOIN q03_attempts AS a ON w.job_id = a.job_id AND w.task_index = a.task_index AND w.attempt = a.attempt
  GROUP BY w.job_id, w.task_index, w.window_id
),
split AS (
  SELECT f.job_id, f.task_index, f.start_time_us, f.earlier_end_us, f.canonical_memory, f.assigned_memory,
         CASE WHEN f.canonical_memory IS NULL THEN 0.0 ELSE CAST(f.canonical_memory AS DOUBLE) END AS canonical,
         CASE WHEN f.assigned_memory IS NULL THEN 0.0 ELSE CAST(f.assigned_memory AS DOUBLE) END AS assigned,
         CASE WHEN f.end_time_us < f.start_time_us THEN 0 ELSE f.end_time_us - f.start_time_us END AS length_us,
         COALESCE(i.inside_us, 0) AS inside_us,
         COALESCE(i.closed_us, 0) AS closed_us
  FROM followed AS f
  LEFT JOIN insides AS i
    ON f.job_id = i.job_id AND f.task_index = i.task_index AND f.window_id = i.window_id
)
SELECT job_id, task_index,
       CAST(count(*) AS BIGINT) AS window_count,
       CAST(SUM(CASE WHEN start_time_us < earlier_end_us THEN 1 ELSE 0 END) AS BIGINT) AS windows_overlapping,
       CAST(SUM(CASE WHEN canonical_memory IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS windows_without_canonical,
       SUM(canonical * inside_us) / CAST(1000000 AS DOUBLE) AS canonical_memory_s,
       SUM(canonical * (length_us - inside_us)) / CAST(1000000 AS DOUBLE) AS outside_canonical_memory_s,
       SUM(canonical * closed_us) / CAST(1000000 AS DOUBLE) AS closed_canonical_memory_s,
       CAST(SUM(CASE WHEN assigned_memory IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS windows_without_assigned,
       SUM(assigned * inside_us) / CAST(1000000 AS DOUBLE) AS assigned_memory_s,
       SUM(assigned * (length_us - inside_us)) / CAST(1000000 AS DOUBLE) AS outside_assigned_memory_s,
       SUM(assigned * closed_us) / CAST(1000000 AS DOUBLE) AS closed_assigned_memory_s
FROM split
GROUP BY job_id, task_index
ORDER BY job_id, task_index;
