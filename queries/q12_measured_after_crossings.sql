-- Question: how much CPU was measured of each condemned task after each crossing?
-- Tables:   q06_windows_in_attempts, q08_crossings
-- Key:      job_id, task_index, threshold
-- Columns:  job_id, task_index, threshold
--           saved_measured_s   NCU-s inside attempts, after the crossing
-- Used by:  sweep --cpu measured
-- Of a usage window that contains the crossing, the part after it counts.
WITH measured AS (
  SELECT job_id, task_index, threshold, SUM(CAST(mean_cpu_rate AS DOUBLE) * length_us) AS measured
  FROM (SELECT c.job_id, c.task_index, c.threshold, w.mean_cpu_rate,
               w.end_us - CASE WHEN w.start_us < c.condemned_us THEN c.condemned_us ELSE w.start_us END AS length_us
        FROM q08_crossings AS c
        JOIN q06_windows_in_attempts AS w ON c.job_id = w.job_id AND c.task_index = w.task_index) AS rests
  WHERE 0 < length_us
  GROUP BY job_id, task_index, threshold
)
SELECT c.job_id, c.task_index, c.threshold,
       COALESCE(m.measured, 0.0) / CAST(1000000 AS DOUBLE) AS saved_measured_s
FROM q08_crossings AS c
LEFT JOIN measured AS m ON c.job_id = m.job_id AND c.task_index = m.task_index AND c.threshold = m.threshold
ORDER BY c.job_id, c.task_index, c.threshold;
