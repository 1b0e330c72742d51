-- Question: when and where did each attempt of each task run, and how did it end?
-- Tables:   task_events
-- Key:      job_id, task_index, attempt
-- Columns:  job_id, task_index
--           attempt       1, 2, ... within the task
--           machine_id    where it was scheduled
--           cpu_request   NCU, on the SCHEDULE row; null where there is none
--           start_us      the SCHEDULE
--           end_us        the next terminal event, or the next SCHEDULE if that comes first;
--                         null while the attempt is open
--           ended_by      event type of that event; null while the attempt is open
-- Used by:  q05, q06, q08, q09
-- A terminal event at 2^63-1 (after the window) leaves its attempt open. SUBMIT and UPDATE do not
-- end an attempt.
WITH ends AS (
  SELECT job_id, task_index, row_id, time_us, event_type, machine_id, cpu_request,
         lead(time_us) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS next_us,
         lead(event_type) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS next_type
  FROM task_events
  WHERE event_type IN (1, 2, 3, 4, 5, 6)
)
SELECT job_id, task_index,
       CAST(row_number() OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS BIGINT) AS attempt,
       machine_id, cpu_request, time_us AS start_us,
       CASE WHEN next_us < 9223372036854775807 THEN next_us END AS end_us,
       CASE WHEN next_us < 9223372036854775807 THEN next_type END AS ended_by
FROM ends
WHERE event_type = 1
ORDER BY job_id, task_index, attempt;
