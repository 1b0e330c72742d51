-- Question: how much CPU capacity is lost while machines are away?
-- Tables:   machine_events, settings
-- Key:      measure, group_key
-- Columns:  measure      what is counted, see below
--           group_key    -1 (all)
--           part, whole  numerator and denominator of a share; for other numbers part is null, and whole
--                        is the number of values
--           value        part over whole, or the number; null where whole is 0
-- Used by:  reproduce course, question 2
-- lost: NCU-s of outages that ended, over the sum of these and the NCU-s of machines that were up. An outage lasts
--       from REMOVE to the next ADD; a machine has its last recorded CPU capacity; the window ends with the last table.
-- lost, between first and last event: the same, over the time from the first to the last row of each machine.
-- away: as lost, but outages that never ended are in numerator and denominator.
-- machines away: machines with a REMOVE, of all.
WITH last_row AS (
  SELECT COALESCE(MAX(CASE WHEN time_us < 9223372036854775807 THEN time_us END), 0) AS last_us
  FROM machine_events
),
ends AS (
  SELECT CASE WHEN s.job_window_end_us < s.task_window_end_us
              THEN CASE WHEN s.task_window_end_us < l.last_us THEN l.last_us ELSE s.task_window_end_us END
              ELSE CASE WHEN s.job_window_end_us < l.last_us THEN l.last_us ELSE s.job_window_end_us END END AS end_us
  FROM settings AS s
  CROSS JOIN last_row AS l
),
numbered AS (
  SELECT machine_id, event_type, cpu_capacity,
         CASE WHEN e.end_us < m.time_us THEN e.end_us ELSE m.time_us END AS time_us, e.end_us,
         CAST(row_number() OVER (PARTITION BY machine_id ORDER BY m.time_us, m.row_id) AS BIGINT) AS position
  FROM machine_events AS m
  CROSS JOIN ends AS e
),
states AS (
  SELECT machine_id, position, time_us, end_us,
         lead(time_us) OVER (PARTITION BY machine_id ORDER BY position) AS next_us,
         MAX(CASE WHEN event_type = 1 THEN position * 2 + 1
                  WHEN event_type = 0 OR position = 1 THEN position * 2 END)
           OVER (PARTITION BY machine_id ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) % 2 AS is_away,
         MAX(CASE WHEN cpu_capacity IS NOT NULL THEN position END)
           OVER (PARTITION BY machine_id ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS said_position,
         MAX(CASE WHEN event_type = 0 THEN position ELSE 0 END) OVER (PARTITION BY machine_id) AS last_add
  FROM numbered
),
pieces AS (
  SELECT s.is_away, s.next_us, COALESCE(CAST(n.cpu_capacity AS DOUBLE), CAST(0 AS DOUBLE)) AS cpu,
         COALESCE(s.next_us, s.end_us) - s.time_us AS length_us,
         CASE WHEN s.is_away = 1 AND s.last_add < s.position THEN 1 ELSE 0 END AS is_gone
  FROM states AS s
  LEFT JOIN numbered AS n ON s.machine_id = n.machine_id AND s.said_position = n.position
),
sums AS (
  SELECT COALESCE(SUM(CASE WHEN is_away = 0 THEN cpu * length_us ELSE 0 END), 0) / CAST(1000000 AS DOUBLE) AS up,
         COALESCE(SUM(CASE WHEN is_away = 1 AND is_gone = 0 THEN cpu * length_us ELSE 0 END), 0) / CAST(1000000 AS DOUBLE) AS lost,
         COALESCE(SUM(CASE WHEN is_gone = 1 THEN cpu * length_us ELSE 0 END), 0) / CAST(1000000 AS DOUBLE) AS gone,
         COALESCE(SUM(CASE WHEN next_us IS NOT NULL THEN cpu * length_us ELSE 0 END), 0) / CAST(1000000 AS DOUBLE) AS between_rows
  FROM pieces
),
machines AS (
  SELECT machine_id, MAX(CASE WHEN event_type = 1 THEN 1 ELSE 0 END) AS was_away
  FROM machine_events
  GROUP BY machine_id
),
shares AS (
  SELECT 'lost' AS measure, lost AS part, lost + up AS whole FROM sums
  UNION ALL
  SELECT 'lost, between first and last event' AS measure, lost AS part, between_rows AS whole FROM sums
  UNION ALL
  SELECT 'away' AS measure, lost + gone AS part, lost + gone + up AS whole FROM sums
  UNION ALL
  SELECT 'machines away' AS measure, CAST(COALESCE(SUM(was_away), 0) AS DOUBLE) AS part, CAST(count(*) AS DOUBLE) AS whole
  FROM machines
)
SELECT measure, CAST(-1 AS DOUBLE) AS group_key, part, whole, CASE WHEN 0 < whole THEN part / whole END AS value
FROM shares
ORDER BY measure, group_key;
