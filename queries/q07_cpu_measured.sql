-- Question: how much CPU was measured of each task, inside its attempts and outside them?
-- Tables:   task_usage, q06_windows_in_attempts
-- Key:      job_id, task_index
-- Columns:  job_id, task_index
--           window_count
--           windows_without_rate   counted as 0 for want of a mean CPU rate
--           windows_overlapping    start before an earlier window of the task has ended
--           measured_s             NCU-s inside attempts
--           outside_s              NCU-s outside attempts
-- Used by:  account --cpu measured
WITH windows AS (
  SELECT job_id, task_index, row_id, start_time_us, end_time_us, mean_cpu_rate,
         MAX(end_time_us) OVER (PARTITION BY job_id, task_index ORDER BY start_time_us, row_id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest_end_us
  FROM task_usage
),
followed AS (
  SELECT job_id, task_index, start_time_us, end_time_us, mean_cpu_rate,
         lag(latest_end_us) OVER (PARTITION BY job_id, task_index ORDER BY start_time_us, row_id) AS earlier_end_us
  FROM windows
),
totals AS (
  SELECT job_id, task_index,
         CAST(count(*) AS BIGINT) AS window_count,
         CAST(SUM(CASE WHEN mean_cpu_rate IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS windows_without_rate,
         CAST(SUM(CASE WHEN start_time_us < earlier_end_us THEN 1 ELSE 0 END) AS BIGINT) AS windows_overlapping,
         SUM(CASE WHEN mean_cpu_rate IS NULL OR end_time_us < start_time_us THEN 0.0
                  ELSE CAST(mean_cpu_rate AS DOUBLE) * (end_time_us - start_time_us) END) AS total
  FROM followed
  GROUP BY job_id, task_index
),
insides AS (
  SELECT job_id, task_index, SUM(mean_cpu_rate * (end_us - start_us)) AS inside
  FROM q06_windows_in_attempts
  GROUP BY job_id, task_index
)
SELECT t.job_id, t.task_index, t.window_count, t.windows_without_rate, t.windows_overlapping,
       COALESCE(i.inside, 0.0) / 1e6 AS measured_s,
       (t.total - COALESCE(i.inside, 0.0)) / 1e6 AS outside_s
FROM totals AS t
LEFT JOIN insides AS i ON t.job_id = i.job_id AND t.task_index = i.task_index
ORDER BY t.job_id, t.task_index;
