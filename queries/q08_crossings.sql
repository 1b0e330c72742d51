-- Question: when does each task exceed each threshold of events?
-- Tables:   task_events, thresholds
-- Key:      job_id, task_index, threshold
-- Columns:  job_id, task_index
--           threshold    T
--           condemned_us   time of event number T + 1
-- Used by:  q09, sweep
SELECT n.job_id, n.task_index, h.threshold, n.time_us AS condemned_us
FROM (SELECT job_id, task_index, time_us,
             CAST(row_number() OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS BIGINT) AS event_number
      FROM task_events) AS n
JOIN thresholds AS h ON n.event_number = h.threshold + 1
ORDER BY n.job_id, n.task_index, h.threshold;
