-- Question: what capacity did each machine have, and when?
-- Tables:   machine_events
-- Key:      machine_id, start_us, period
-- Columns:  machine_id
--           period            1, 2, ... within the machine
--           start_us, end_us  µs; end_us is null for the last period
--           event_type        what began it: 0 ADD, 1 REMOVE (the machine is away), 2 UPDATE
--           cpu_capacity, memory_capacity   share of the largest machine; 0 while the machine is
--                             away, null where unknown
-- Used by:  users who add up the capacity at an instant
SELECT machine_id,
       CAST(row_number() OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS BIGINT) AS period,
       time_us AS start_us,
       lead(time_us) OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS end_us,
       event_type,
       CASE WHEN event_type = 1 THEN CAST(0 AS REAL) ELSE cpu_capacity END AS cpu_capacity,
       CASE WHEN event_type = 1 THEN CAST(0 AS REAL) ELSE memory_capacity END AS memory_capacity
FROM machine_events
ORDER BY machine_id, start_us, period;
