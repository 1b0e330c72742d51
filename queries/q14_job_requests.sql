-- Question: what does the log record of each job in addition to its events?
-- Sources:  swf, gwf, slurm, mapped
-- Tables:   job_events
-- Key:      job_id
-- Columns:  job_id
--           user_group, executable, queue, partition   as logged
--           requested_processors
--           requested_time_us      µs, run time (or CPU time per processor) requested
--           requested_memory_kib   KiB, per processor
--           processors             processors it had
--           cpu_time_us            µs, mean CPU time used per processor
--           used_memory_kib        KiB, mean used per processor
-- Used by:  notebooks; the studies read the same columns
-- Only logs of parallel jobs have these columns. Every event of a job repeats the values of its
-- line. If a run was logged in parts, their values may differ; then the largest counts.
SELECT job_id,
       MAX(user_group) AS user_group,
       MAX(executable) AS executable,
       MAX(queue) AS queue,
       MAX("partition") AS "partition",
       MAX(requested_processors) AS requested_processors,
       MAX(requested_time_us) AS requested_time_us,
       MAX(requested_memory_kib) AS requested_memory_kib,
       MAX(processors) AS processors,
       MAX(cpu_time_us) AS cpu_time_us,
       MAX(used_memory_kib) AS used_memory_kib
FROM job_events
GROUP BY job_id
ORDER BY job_id;
