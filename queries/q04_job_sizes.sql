-- Question: how many tasks does each job have?
-- Tables:   task_events
-- Key:      job_id
-- Columns:  job_id
--           task_count    tasks with at least one event
--           event_count   events of all of them
-- Used by:  describe
SELECT job_id, CAST(count(*) AS BIGINT) AS task_count, CAST(SUM(event_count) AS BIGINT) AS event_count
FROM (SELECT job_id, task_index, count(*) AS event_count
      FROM task_events
      GROUP BY job_id, task_index) AS tasks
GROUP BY job_id
ORDER BY job_id;
