-- Question: how much CPU was charged to each user in each hour, when the attempts ended?
-- Tables:   q01_job_outcomes, q03_attempts
-- Key:      user, hour_us
-- Columns:  user            of the job; '-' where it has none, or no row in job_events
--           hour_us         where the hour begins in which the attempts ended
--           attempt_count   attempts that ended in it
--           slots_s         s, their running time
--           requested_s     NCU-s, CPU request times running time; no request is 0
-- Used by:  fairness --accrual end --interval 3600
-- As in Ota and Aida (2009), the whole of an attempt is charged in the hour in which it (or its job)
-- ends. An attempt that is open at the end of the window is not charged.
SELECT COALESCE(j."user", '-') AS "user",
       a.end_us - a.end_us % 3600000000 AS hour_us,
       CAST(count(*) AS BIGINT) AS attempt_count,
       SUM(a.end_us - a.start_us) / CAST(1000000 AS DOUBLE) AS slots_s,
       SUM(CASE WHEN a.cpu_request IS NULL THEN 0.0 ELSE CAST(a.cpu_request AS DOUBLE) * (a.end_us - a.start_us) END) / CAST(1000000 AS DOUBLE) AS requested_s
FROM q03_attempts AS a
LEFT JOIN q01_job_outcomes AS j ON a.job_id = j.job_id
WHERE a.end_us IS NOT NULL
GROUP BY COALESCE(j."user", '-'), a.end_us - a.end_us % 3600000000
ORDER BY "user", hour_us;
