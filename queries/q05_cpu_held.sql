-- Question: how much CPU did each task hold while it ran: slots, and the CPU that it requested?
-- Tables:   q03_attempts, settings
-- Key:      job_id, task_index
-- Columns:  job_id, task_index
--           attempt_count
--           slots_s                    s, running time of all attempts
--           requested_s                NCU-s, CPU request times running time; no request is 0
--           attempts_without_request   attempts counted as 0 because they have no request
--           attempts_closed_with_job   without a recorded end, closed at the end of their job
--           closed_slots_s, closed_requested_s   their part of slots_s and requested_s
-- Used by:  account --cpu slots, --cpu requested
-- A suspended job of Slurm is charged here from its start to its end; `account` without `--engine`
-- charges it only for the time that it ran.
-- An open attempt is closed at the end of the window. The end of task_events is
-- settings.task_window_end_us; an attempt that starts after it (at 2^63-1) has length 0.
SELECT job_id, task_index,
       CAST(count(*) AS BIGINT) AS attempt_count,
       SUM(length_us) / CAST(1000000 AS DOUBLE) AS slots_s,
       SUM(CASE WHEN cpu_request IS NULL THEN 0.0 ELSE CAST(cpu_request AS DOUBLE) * length_us END) / CAST(1000000 AS DOUBLE) AS requested_s,
       CAST(SUM(CASE WHEN cpu_request IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS attempts_without_request,
       CAST(SUM(is_closed) AS BIGINT) AS attempts_closed_with_job,
       SUM(is_closed * length_us) / CAST(1000000 AS DOUBLE) AS closed_slots_s,
       SUM(CASE WHEN cpu_request IS NULL THEN 0.0 ELSE CAST(cpu_request AS DOUBLE) * is_closed * length_us END) / CAST(1000000 AS DOUBLE) AS closed_requested_s
FROM (SELECT a.job_id, a.task_index, a.cpu_request,
             CASE WHEN a.end_us IS NOT NULL AND a.ended_by IS NULL THEN 1 ELSE 0 END AS is_closed,
             CASE WHEN a.end_us IS NOT NULL THEN a.end_us - a.start_us
                  WHEN a.start_us < s.task_window_end_us THEN s.task_window_end_us - a.start_us
                  ELSE 0 END AS length_us
      FROM q03_attempts AS a
      CROSS JOIN settings AS s) AS lengths
GROUP BY job_id, task_index
ORDER BY job_id, task_index;
