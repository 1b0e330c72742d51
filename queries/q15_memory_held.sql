-- Question: how much memory had each task requested while it ran?
-- Tables:   task_events, q03_attempts, settings
-- Key:      job_id, task_index
-- Columns:  job_id, task_index
--           requested_memory_s          NMU-s, memory request times running time; no request is 0
--           attempts_without_memory     attempts counted as 0 because they have no request
--           closed_requested_memory_s   the part of it in attempts that are closed with their job
-- Used by:  account --resource memory
-- Memory is a share of the memory of the largest machine (NMU); logs give it in KiB or MiB. The
-- request is that of the SCHEDULE. An open attempt is closed at the end of the window, as in q05.
WITH starts AS (
  SELECT job_id, task_index, memory_request,
         CAST(row_number() OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS BIGINT) AS attempt
  FROM task_events
  WHERE event_type = 1
)
SELECT job_id, task_index,
       SUM(CASE WHEN memory_request IS NULL THEN 0.0 ELSE CAST(memory_request AS DOUBLE) * length_us END) / CAST(1000000 AS DOUBLE) AS requested_memory_s,
       CAST(SUM(CASE WHEN memory_request IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS attempts_without_memory,
       SUM(CASE WHEN memory_request IS NULL THEN 0.0 ELSE CAST(memory_request AS DOUBLE) * is_closed * length_us END) / CAST(1000000 AS DOUBLE) AS closed_requested_memory_s
FROM (SELECT a.job_id, a.task_index, b.memory_request,
             CASE WHEN a.end_us IS NOT NULL AND a.ended_by IS NULL THEN 1 ELSE 0 END AS is_closed,
             CASE WHEN a.end_us IS NOT NULL THEN a.end_us - a.start_us
                  WHEN a.start_us < s.task_window_end_us THEN s.task_window_end_us - a.start_us
                  ELSE 0 END AS length_us
      FROM q03_attempts AS a
      JOIN starts AS b ON a.job_id = b.job_id AND a.task_index = b.task_index AND a.attempt = b.attempt
      CROSS JOIN settings AS s) AS lengths
GROUP BY job_id, task_index
ORDER BY job_id, task_index;
