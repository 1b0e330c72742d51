-- Question: which task was evicted where, what had it requested and held, and when did it run again?
-- Tables:   q17_attempt_facts
-- Key:      job_id, task_index, attempt
-- Columns:  job_id, task_index, attempt, machine_id, "user", priority, scheduling_class, cpu_request,
--           memory_request, start_us   as in q17
--           evicted_us       the EVICT
--           slots_s          s that it had run
--           requested_s      NCU-s that it had held
--           restart_us       when its task was scheduled again; null where it was not
--           restart_machine_id   where
--           away_us          from the EVICT to then; null where that is after the window (at 2^63-1)
-- Used by:  users who study what evictions cost
WITH all_attempts AS (
  SELECT *,
         lead(start_us) OVER (PARTITION BY job_id, task_index ORDER BY attempt) AS restart_us,
         lead(machine_id) OVER (PARTITION BY job_id, task_index ORDER BY attempt) AS restart_machine_id
  FROM q17_attempt_facts
)
SELECT job_id, task_index, attempt, machine_id, "user", priority, scheduling_class, cpu_request, memory_request,
       start_us, end_us AS evicted_us, slots_s, requested_s, restart_us, restart_machine_id,
       CASE WHEN restart_us < 9223372036854775807 THEN restart_us - end_us END AS away_us
FROM all_attempts
WHERE ended_by = 2
ORDER BY job_id, task_index, attempt;
