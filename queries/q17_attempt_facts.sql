-- Question: which task and job does each attempt belong to, how long did it wait, how did it end, and what did it cost?
-- Tables:   q01_job_outcomes, q02_task_outcomes, q03_attempts, task_events, settings
-- Optional: task_usage
-- Key:      job_id, task_index, attempt
-- Columns:  job_id, task_index, attempt, machine_id, cpu_request, start_us, ended_by   as in q03
--           end_us             as in q03; the end of the window where the attempt is open
--           is_open            whether it is closed there
--           ended              how it ended, by name: evicted, failed, finished, killed, lost; rescheduled (by
--                              the next SCHEDULE), with job, or open
--           submit_us          the SUBMIT from which it waited: the last event of its task before it (UPDATE
--                              events apart), if that is a SUBMIT; null otherwise
--           wait_us            from there to its SCHEDULE; null where it was submitted before the window or
--                              scheduled after it
--           memory_request     NMU (or what the log has), on the SCHEDULE row
--           slots_s            s, its running time
--           requested_s        NCU-s, CPU request times running time; no request is 0
--           measured_s         NCU-s, mean_cpu_rate times length over the parts of usage windows inside it, as
--                              in q06; a window without a rate is 0; null where no window lies in it
--           priority, task_outcome_sequence, task_outcome_terminal   of its task, as in q02
--           "user", scheduling_class, job_name, job_outcome_sequence, job_outcome_terminal   of its job, as in q01
-- Used by:  users with questions about attempts
-- An attempt that starts after the window (at 2^63-1) has length 0.
WITH deciding AS (
  SELECT job_id, task_index, event_type, time_us, memory_request,
         lag(time_us) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS before_us,
         lag(event_type) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS before_type,
         CAST(SUM(CASE WHEN event_type = 1 THEN 1 ELSE 0 END)
              OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS attempt
  FROM task_events
  WHERE event_type IN (0, 1, 2, 3, 4, 5, 6)
),
closed AS (
  SELECT a.job_id, a.task_index, a.attempt, a.machine_id, a.cpu_request, a.start_us, a.ended_by,
         CASE WHEN a.end_us IS NOT NULL THEN a.end_us
              WHEN s.task_window_end_us < a.start_us THEN a.start_us
              ELSE s.task_window_end_us END AS end_us,
         a.end_us IS NULL AS is_open,
         s.first_us
  FROM q03_attempts AS a
  CROSS JOIN settings AS s
),
parts AS (
  SELECT a.job_id, a.task_index, a.attempt,
         CASE WHEN u.start_time_us < a.start_us THEN a.start_us ELSE u.start_time_us END AS from_us,
         CASE WHEN a.end_us < u.end_time_us THEN a.end_us ELSE u.end_time_us END AS to_us,
         CASE WHEN u.mean_cpu_rate IS NULL THEN 0.0 ELSE CAST(u.mean_cpu_rate AS DOUBLE) END AS rate
  FROM closed AS a
  JOIN task_usage AS u ON a.job_id = u.job_id AND a.task_index = u.task_index
),
used AS (
  SELECT job_id, task_index, attempt, SUM(rate * (to_us - from_us)) / CAST(1000000 AS DOUBLE) AS measured_s
  FROM parts
  WHERE from_us < to_us
  GROUP BY job_id, task_index, attempt
)
SELECT a.job_id, a.task_index, a.attempt, a.machine_id, a.cpu_request, d.memory_request, a.start_us,
       a.end_us, a.is_open,
       a.ended_by,
       CASE WHEN a.is_open THEN 'open'
            WHEN a.ended_by IS NULL THEN 'with job'
            WHEN a.ended_by = 1 THEN 'rescheduled'
            WHEN a.ended_by = 2 THEN 'evicted'
            WHEN a.ended_by = 3 THEN 'failed'
            WHEN a.ended_by = 4 THEN 'finished'
            WHEN a.ended_by = 5 THEN 'killed'
            ELSE 'lost' END AS ended,
       CASE WHEN d.before_type = 0 THEN d.before_us END AS submit_us,
       CASE WHEN d.before_type = 0 AND a.first_us <= d.before_us AND d.time_us < 9223372036854775807
            THEN d.time_us - d.before_us END AS wait_us,
       (a.end_us - a.start_us) / CAST(1000000 AS DOUBLE) AS slots_s,
       CASE WHEN a.cpu_request IS NULL THEN 0.0
            ELSE CAST(a.cpu_request AS DOUBLE) * (a.end_us - a.start_us) END
         / CAST(1000000 AS DOUBLE) AS requested_s,
       w.measured_s,
       t.priority,
       t.outcome_sequence AS task_outcome_sequence,
       t.outcome_terminal AS task_outcome_terminal,
       j."user", j.scheduling_class, j.job_name,
       j.outcome_sequence AS job_outcome_sequence,
       j.outcome_terminal AS job_outcome_terminal
FROM closed AS a
JOIN deciding AS d ON a.job_id = d.job_id AND a.task_index = d.task_index AND a.attempt = d.attempt
JOIN q02_task_outcomes AS t ON a.job_id = t.job_id AND a.task_index = t.task_index
LEFT JOIN q01_job_outcomes AS j ON a.job_id = j.job_id
LEFT JOIN used AS w ON a.job_id = w.job_id AND a.task_index = w.task_index AND a.attempt = w.attempt
WHERE d.event_type = 1
ORDER BY a.job_id, a.task_index, a.attempt;
