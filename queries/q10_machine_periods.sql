-- Question: from when to when did each machine have which capacity?
-- Tables:   machine_events
-- Key:      machine_id, start_us, period
-- Columns:  machine_id
--           period            1, 2, ... within the machine
--           start_us, end_us  µs; end_us is null for the last period
--           event_type        what began it: 0 ADD, 1 REMOVE (the machine is away), 2 UPDATE
--           cpu_capacity, memory_capacity   share of the largest machine; null where unknown
-- Used by:  q11
SELECT machine_id,
       CAST(row_number() OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS BIGINT) AS period,
       time_us AS start_us,
       lead(time_us) OVER (PARTITION BY machine_id ORDER BY time_us, row_id) AS end_us,
       event_type, cpu_capacity, memory_capacity
FROM machine_events
ORDER BY machine_id, start_us, period;
