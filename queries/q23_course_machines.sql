-- Question: how are the machines distributed by their CPU capacity?
-- Tables:   machine_events
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    the CPU capacity, NCU; -1 for all, -2 where it is unknown
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 1
-- machines: each machine once, under its last recorded capacity.
-- machines at time 0: those that are added at time 0, under the capacity of that row.
-- rows: the rows of machine_events, of which a machine has several.
WITH last_said AS (
  SELECT machine_id, cpu_capacity,
         row_number() OVER (PARTITION BY machine_id
                            ORDER BY CASE WHEN cpu_capacity IS NULL THEN 0 ELSE 1 END DESC, time_us DESC, row_id DESC) AS place
  FROM machine_events
),
at_start AS (
  SELECT machine_id, cpu_capacity,
         row_number() OVER (PARTITION BY machine_id ORDER BY row_id) AS place
  FROM machine_events
  WHERE event_type = 0 AND time_us = 0
),
counted AS (
  SELECT 'machines' AS measure, COALESCE(CAST(cpu_capacity AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key
  FROM last_said WHERE place = 1
  UNION ALL
  SELECT 'machines at time 0' AS measure, COALESCE(CAST(cpu_capacity AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key
  FROM at_start WHERE place = 1
  UNION ALL
  SELECT 'rows' AS measure, COALESCE(CAST(cpu_capacity AS DOUBLE), CAST(-2 AS DOUBLE)) AS group_key
  FROM machine_events
),
parts AS (
  SELECT measure, group_key, CAST(count(*) AS DOUBLE) AS part
  FROM counted
  GROUP BY measure, group_key
),
wholes AS (
  SELECT measure, CAST(count(*) AS DOUBLE) AS whole
  FROM counted
  GROUP BY measure
)
SELECT p.measure, p.group_key, p.part, w.whole, p.part / w.whole AS value
FROM parts AS p
JOIN wholes AS w ON p.measure = w.measure
ORDER BY measure, group_key;
