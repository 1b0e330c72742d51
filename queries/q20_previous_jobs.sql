-- Question: which job did the same user submit before each job, and what became of that job?
-- Tables:   q01_job_outcomes
-- Key:      first_submit_us, job_id
-- Columns:  job_id, "user", first_submit_us, outcome_terminal   as in q01
--           previous_job_id            the user's job before it, by first_submit_us and then job_id
--           previous_submit_us         when that was submitted
--           previous_outcome_terminal  what became of it in the end
--           previous_last_us           its last event
--           is_known                   whether it has ended, and its last event lies before the submission of
--                                      this job: only then could anyone have known its outcome
-- Used by:  users who predict from the past of a user
-- Jobs without a user or without a SUBMIT are left out. The first job of a user has no previous job.
WITH ordered AS (
  SELECT job_id, "user", first_submit_us, outcome_terminal, last_event_us,
         lag(job_id) OVER (PARTITION BY "user" ORDER BY first_submit_us, job_id) AS previous_job_id,
         lag(first_submit_us) OVER (PARTITION BY "user" ORDER BY first_submit_us, job_id) AS previous_submit_us,
         lag(outcome_terminal) OVER (PARTITION BY "user" ORDER BY first_submit_us, job_id) AS previous_outcome_terminal,
         lag(last_event_us) OVER (PARTITION BY "user" ORDER BY first_submit_us, job_id) AS previous_last_us
  FROM q01_job_outcomes
  WHERE "user" IS NOT NULL AND first_submit_us IS NOT NULL
)
SELECT job_id, "user", first_submit_us, outcome_terminal, previous_job_id, previous_submit_us,
       previous_outcome_terminal, previous_last_us,
       CASE WHEN previous_job_id IS NULL THEN NULL
            ELSE previous_outcome_terminal IN ('finished', 'failed', 'killed', 'evicted', 'lost')
                 AND previous_last_us < first_submit_us END AS is_known
FROM ordered
ORDER BY first_submit_us, job_id;
