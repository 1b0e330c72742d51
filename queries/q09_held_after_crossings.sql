-- Question: how much CPU did each condemned task hold after each crossing?
-- Tables:   q03_attempts, q08_crossings, settings
-- Key:      job_id, task_index, threshold
-- Columns:  job_id, task_index, threshold
--           condemned_us
--           saved_slots_s       s, running time after the crossing
--           saved_requested_s   NCU-s
-- Used by:  sweep --cpu slots, --cpu requested
-- Of an attempt that runs at the crossing, the part after it counts.
WITH held AS (
  SELECT job_id, task_index, threshold,
         SUM(length_us) AS slots,
         SUM(CASE WHEN cpu_request IS NULL THEN 0.0 ELSE CAST(cpu_request AS DOUBLE) * length_us END) AS requested
  FROM (SELECT c.job_id, c.task_index, c.threshold, a.cpu_request,
               COALESCE(a.end_us, s.task_window_end_us)
                 - CASE WHEN a.start_us < c.condemned_us THEN c.condemned_us ELSE a.start_us END AS length_us
        FROM q08_crossings AS c
        JOIN q03_attempts AS a ON c.job_id = a.job_id AND c.task_index = a.task_index
        CROSS JOIN settings AS s) AS rests
  WHERE 0 < length_us
  GROUP BY job_id, task_index, threshold
)
SELECT c.job_id, c.task_index, c.threshold, c.condemned_us,
       COALESCE(h.slots, 0) / CAST(1000000 AS DOUBLE) AS saved_slots_s,
       COALESCE(h.requested, 0.0) / CAST(1000000 AS DOUBLE) AS saved_requested_s
FROM q08_crossings AS c
LEFT JOIN held AS h ON c.job_id = h.job_id AND c.task_index = h.task_index AND c.threshold = h.threshold
ORDER BY c.job_id, c.task_index, c.threshold;
