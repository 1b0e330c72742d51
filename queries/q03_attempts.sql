-- Question: when and where did each attempt of each task run, and how did it end?
-- Tables:   task_events, settings
-- Optional: job_events
-- Key:      job_id, task_index, attempt
-- Columns:  job_id, task_index
--           attempt       1, 2, ... within the task
--           machine_id    where it was scheduled
--           cpu_request   NCU, on the SCHEDULE row; null where there is none
--           start_us      the SCHEDULE
--           end_us        the next terminal event, or the next SCHEDULE if that comes first;
--                         without one, the end of its job (see below); null while the attempt is open
--           ended_by      event type of that event; null where the attempt is open or its job ended it
-- Used by:  q05, q06, q08, q09
-- A terminal event at 2^63-1 (after the window) leaves its attempt open. SUBMIT and UPDATE do not
-- end an attempt. If settings.open_attempts is 'job-end', an attempt without a recorded end ends
-- with its job: at the last terminal event of the job that no SUBMIT or SCHEDULE follows, if that
-- is before the end of task_events and not before the start of the attempt. With 'window-end', or
-- without job_events, the attempt stays open.
WITH ends AS (
  SELECT job_id, task_index, row_id, time_us, event_type, machine_id, cpu_request,
         lead(time_us) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS next_us,
         lead(event_type) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS next_type
  FROM task_events
  WHERE event_type IN (1, 2, 3, 4, 5, 6)
),
deciding AS (
  SELECT job_id, time_us, event_type,
         row_number() OVER (PARTITION BY job_id ORDER BY time_us DESC, row_id DESC) AS place
  FROM job_events
  WHERE event_type IN (0, 1, 2, 3, 4, 5, 6)
),
job_ends AS (
  SELECT d.job_id, d.time_us AS ended_us
  FROM deciding AS d
  CROSS JOIN settings AS s
  WHERE d.place = 1 AND d.event_type IN (2, 3, 4, 5, 6)
    AND d.time_us < s.task_window_end_us AND s.open_attempts = 'job-end'
)
SELECT e.job_id, e.task_index,
       CAST(row_number() OVER (PARTITION BY e.job_id, e.task_index ORDER BY e.time_us, e.row_id) AS BIGINT) AS attempt,
       e.machine_id, e.cpu_request, e.time_us AS start_us,
       CASE WHEN e.next_us < 9223372036854775807 THEN e.next_us
            WHEN e.time_us = 9223372036854775807 THEN NULL
            WHEN j.ended_us < e.time_us THEN e.time_us
            ELSE j.ended_us END AS end_us,
       CASE WHEN e.next_us < 9223372036854775807 THEN e.next_type END AS ended_by
FROM ends AS e
LEFT JOIN job_ends AS j ON e.job_id = j.job_id
WHERE e.event_type = 1
ORDER BY e.job_id, e.task_index, attempt;
