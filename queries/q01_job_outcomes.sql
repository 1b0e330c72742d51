-- Question: what became of each job?
-- Tables:   job_events
-- Key:      job_id
-- Columns:  job_id
--           sequence           the event types in (time_us, row_id) order, one digit each (10 is A);
--                              exact up to 65,536 events
--           event_count
--           outcome_sequence   finished 014, failed 013, killed 015, running 01, everything else other
--           outcome_terminal   by the last terminal event, unless a SUBMIT or SCHEDULE follows it
--           first_event_us, first_submit_us, first_schedule_us, last_event_us   µs; null where there was none
--           user, job_name     the largest if a job has several
--           scheduling_class   the last seen (packed below its position, as any 32-bit number)
-- Used by:  classify, account, describe, sweep
-- The sequence is joined in four steps of sixteen pieces each, because the engines have no common
-- aggregate that joins strings in a given order.
WITH numbered AS (
  SELECT *,
         CAST(row_number() OVER (PARTITION BY job_id ORDER BY time_us, row_id) - 1 AS BIGINT) AS position
  FROM job_events
),
summaries AS (
  SELECT job_id,
         CAST(count(*) AS BIGINT) AS event_count,
         MIN(CASE WHEN event_type = 0 THEN time_us END) AS first_submit_us,
         MIN(CASE WHEN event_type = 1 THEN time_us END) AS first_schedule_us,
         MIN(time_us) AS first_event_us,
         MAX(time_us) AS last_event_us,
         MAX(CASE WHEN event_type IN (2, 3, 4, 5, 6) THEN position * 16 + event_type END) AS last_terminal,
         MAX(CASE WHEN event_type IN (0, 1) THEN position * 16 + event_type END) AS last_start,
         MAX("user") AS "user",
         MAX(job_name) AS job_name,
         MAX(CASE WHEN scheduling_class IS NOT NULL THEN position * 4294967296 + CAST(scheduling_class AS BIGINT) + 2147483648 END)
           % 4294967296 - 2147483648 AS scheduling_class
  FROM numbered
  GROUP BY job_id
),
sixteens AS (
  SELECT job_id, position - position % 16 AS position,
         MAX(CASE WHEN position % 16 = 0 THEN event_type END) AS e0,
         MAX(CASE WHEN position % 16 = 1 THEN event_type END) AS e1,
         MAX(CASE WHEN position % 16 = 2 THEN event_type END) AS e2,
         MAX(CASE WHEN position % 16 = 3 THEN event_type END) AS e3,
         MAX(CASE WHEN position % 16 = 4 THEN event_type END) AS e4,
         MAX(CASE WHEN position % 16 = 5 THEN event_type END) AS e5,
         MAX(CASE WHEN position % 16 = 6 THEN event_type END) AS e6,
         MAX(CASE WHEN position % 16 = 7 THEN event_type END) AS e7,
         MAX(CASE WHEN position % 16 = 8 THEN event_type END) AS e8,
         MAX(CASE WHEN position % 16 = 9 THEN event_type END) AS e9,
         MAX(CASE WHEN position % 16 = 10 THEN event_type END) AS e10,
         MAX(CASE WHEN position % 16 = 11 THEN event_type END) AS e11,
         MAX(CASE WHEN position % 16 = 12 THEN event_type END) AS e12,
         MAX(CASE WHEN position % 16 = 13 THEN event_type END) AS e13,
         MAX(CASE WHEN position % 16 = 14 THEN event_type END) AS e14,
         MAX(CASE WHEN position % 16 = 15 THEN event_type END) AS e15
  FROM numbered
  GROUP BY job_id, position - position % 16
),
pieces_16 AS (
  SELECT job_id, position,
         COALESCE(SUBSTR('0123456789A', e0 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e1 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e2 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e3 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e4 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e5 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e6 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e7 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e8 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e9 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e10 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e11 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e12 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e13 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e14 + 1, 1), '') ||
         COALESCE(SUBSTR('0123456789A', e15 + 1, 1), '') AS piece_16
  FROM sixteens
),
long_pieces AS (
  SELECT p.job_id, p.position, p.piece_16
  FROM pieces_16 AS p
  JOIN summaries AS s ON p.job_id = s.job_id
  WHERE 16 < s.event_count
),
pieces_256 AS (
  SELECT job_id, position - position % 256 AS position,
         MAX(CASE WHEN position % 256 = 0 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 16 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 32 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 48 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 64 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 80 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 96 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 112 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 128 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 144 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 160 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 176 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 192 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 208 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 224 THEN piece_16 ELSE '' END) ||
         MAX(CASE WHEN position % 256 = 240 THEN piece_16 ELSE '' END) AS piece_256
  FROM long_pieces
  GROUP BY job_id, position - position % 256
),
pieces_4096 AS (
  SELECT job_id, position - position % 4096 AS position,
         MAX(CASE WHEN position % 4096 = 0 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 256 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 512 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 768 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 1024 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 1280 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 1536 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 1792 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 2048 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 2304 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 2560 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 2816 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 3072 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 3328 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 3584 THEN piece_256 ELSE '' END) ||
         MAX(CASE WHEN position % 4096 = 3840 THEN piece_256 ELSE '' END) AS piece_4096
  FROM pieces_256
  GROUP BY job_id, position - position % 4096
),
long_sequences AS (
  SELECT job_id,
         MAX(CASE WHEN position % 65536 = 0 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 4096 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 8192 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 12288 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 16384 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 20480 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 24576 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 28672 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 32768 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 36864 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 40960 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 45056 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 49152 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 53248 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 57344 THEN piece_4096 ELSE '' END) ||
         MAX(CASE WHEN position % 65536 = 61440 THEN piece_4096 ELSE '' END) AS sequence
  FROM pieces_4096
  GROUP BY job_id
),
sequences AS (
  SELECT s.job_id,
         CASE WHEN s.event_count <= 16 THEN p.piece_16 ELSE l.sequence END AS sequence
  FROM summaries AS s
  LEFT JOIN (SELECT * FROM pieces_16 WHERE position = 0) AS p ON s.job_id = p.job_id
  LEFT JOIN long_sequences AS l ON s.job_id = l.job_id
)
SELECT s.job_id, q.sequence, s.event_count,
       CASE q.sequence
         WHEN '014' THEN 'finished' WHEN '013' THEN 'failed' WHEN '015' THEN 'killed'
         WHEN '01' THEN 'running' ELSE 'other' END AS outcome_sequence,
       CASE
         WHEN last_terminal IS NULL AND last_start IS NULL THEN 'unknown'
         WHEN last_start IS NULL OR last_start < last_terminal THEN
           CASE last_terminal % 16
             WHEN 2 THEN 'evicted' WHEN 3 THEN 'failed' WHEN 4 THEN 'finished'
             WHEN 5 THEN 'killed' ELSE 'lost' END
         WHEN last_start % 16 = 0 THEN 'pending' ELSE 'running' END AS outcome_terminal,
       s.first_event_us, s.first_submit_us, s.first_schedule_us, s.last_event_us,
       s."user", s.job_name, CAST(s.scheduling_class AS INT) AS scheduling_class
FROM summaries AS s
JOIN sequences AS q ON s.job_id = q.job_id
ORDER BY s.job_id;
