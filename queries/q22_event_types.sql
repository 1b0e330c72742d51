-- Question: what is each type of event called, and how many events of it do jobs and tasks have?
-- Tables:   task_events
-- Optional: job_events
-- Key:      event_type
-- Columns:  event_type       its number
--           event            its name in the trace
--           job_event_count, task_event_count   rows of that type
-- Used by:  users who read event types
WITH counted AS (
  SELECT event_type, CAST(0 AS BIGINT) AS job_event_count, CAST(count(*) AS BIGINT) AS task_event_count
  FROM task_events
  GROUP BY event_type
  UNION ALL
  SELECT event_type, CAST(count(*) AS BIGINT) AS job_event_count, CAST(0 AS BIGINT) AS task_event_count
  FROM job_events
  GROUP BY event_type
)
SELECT event_type,
       CASE WHEN event_type = 0 THEN 'SUBMIT' WHEN event_type = 1 THEN 'SCHEDULE' WHEN event_type = 2 THEN 'EVICT'
            WHEN event_type = 3 THEN 'FAIL' WHEN event_type = 4 THEN 'FINISH' WHEN event_type = 5 THEN 'KILL'
            WHEN event_type = 6 THEN 'LOST' WHEN event_type = 7 THEN 'UPDATE_PENDING'
            WHEN event_type = 8 THEN 'UPDATE_RUNNING' WHEN event_type = 9 THEN 'QUEUE' ELSE 'ENABLE' END AS event,
       CAST(SUM(job_event_count) AS BIGINT) AS job_event_count,
       CAST(SUM(task_event_count) AS BIGINT) AS task_event_count
FROM counted
GROUP BY event_type
ORDER BY event_type;
