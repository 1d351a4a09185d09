-- SPDX-License-Identifier: BSD-3-Clause
-- What a database holds besides the tables of the report, which are made from its rows' descriptions.
-- In each table `run` tells the analyses apart that were added to it. Columns of durations end in
-- _ns; every time stands twice, as text in UTC and in nanoseconds since 1970.

-- One row per analysis.
CREATE TABLE IF NOT EXISTS runs (
  run      INTEGER PRIMARY KEY,
  schema   TEXT NOT NULL,  -- version of the tables' meaning
  captures TEXT NOT NULL   -- JSON list of file names
);

-- One row per PSN gap, packet sent again, NAK, RNR NAK and CNP, in the order of the trace.
CREATE TABLE IF NOT EXISTS events (
  run        INTEGER NOT NULL,
  time       TEXT NOT NULL,
  time_ns    INTEGER NOT NULL,
  frame      INTEGER NOT NULL,
  half_flow  INTEGER NOT NULL,  -- that carries the packet
  kind       TEXT NOT NULL,     -- gap, retransmission, nak, rnr_nak, cnp
  psn        INTEGER,           -- the packet's; NULL for a CNP
  class      TEXT,              -- of the packet; NULL for answers
  cause      TEXT,              -- of a retransmission
  place      TEXT,              -- of a retransmission
  packets    INTEGER,           -- PSNs missing; of a sender's restart, packets sent again in it
  silence_ns INTEGER,           -- before a sender's restart
  syndrome   TEXT,              -- of a NAK: nak_sequence, nak_remote_access, ...
  episode    INTEGER            -- of a retransmission: the sender's restart, counted from 1
);
CREATE INDEX IF NOT EXISTS events_by_half_flow ON events (run, half_flow, frame);

-- Views are made anew with every run, so that they know the latest columns.

-- Half-flows with short names for what is asked most, the worst first.
DROP VIEW IF EXISTS worst_half_flows;
CREATE VIEW worst_half_flows AS
SELECT run, id, source, destination, dest_qp, service, packets,
       "requests.retransmissions" + ifnull("responses.retransmissions", 0) AS resent,
       round(100.0 * ("requests.retransmissions" + ifnull("responses.retransmissions", 0))
             / max(packets, 1), 3) AS resent_percent,
       "requests.missing_psns" + ifnull("responses.missing_psns", 0) AS missing_psns,
       "responses.naks.sequence" AS sequence_naks,
       "responses.naks.invalid_request" + "responses.naks.remote_access"
         + "responses.naks.remote_operational" AS fatal_naks,
       "responses.rnr_naks" AS rnr_naks,
       "cnp.packets" AS cnps,
       "ecn.ce" AS ce_marked,
       round(8.0 * wire_bytes / nullif(last_time_ns - first_time_ns, 0), 3) AS gbit_per_second
FROM half_flows
ORDER BY run, fatal_naks DESC, 1.0 * resent / (packets + 100) DESC, missing_psns DESC, id;

-- Both ends of every connection in one row, with its answers' times in microseconds.
DROP VIEW IF EXISTS connection_ends;
CREATE VIEW connection_ends AS
SELECT c.run, c.id, a.id AS forward, b.id AS backward,
       a.source AS one, b.dest_qp AS one_qp, a.destination AS other, a.dest_qp AS other_qp,
       c.evidence, c.confidence,
       c."ack_latency_ns.p50" / 1e3 AS ack_p50_us, c."ack_latency_ns.p99" / 1e3 AS ack_p99_us,
       c."read_latency_ns.p50" / 1e3 AS read_p50_us, c."read_latency_ns.p99" / 1e3 AS read_p99_us
FROM connections AS c
LEFT JOIN half_flows AS a ON a.run = c.run AND a.id = json_extract(c.half_flows, '$[0]')
LEFT JOIN half_flows AS b ON b.run = c.run AND b.id = json_extract(c.half_flows, '$[1]');

-- Loss and congestion between two hosts, over all QPs.
DROP VIEW IF EXISTS host_pairs;
CREATE VIEW host_pairs AS
SELECT run, source, destination, count(*) AS half_flows, sum(packets) AS packets,
       sum(wire_bytes) AS wire_bytes, sum(resent) AS resent,
       round(100.0 * sum(resent) / max(sum(packets), 1), 3) AS resent_percent,
       sum("cnp.packets") AS cnps, sum("ecn.ce") AS ce_marked,
       round(100.0 * sum("ecn.ce") / max(sum("ecn.ce" + "ecn.ect0" + "ecn.ect1"), 1), 3)
         AS ce_percent
FROM (SELECT *, "requests.retransmissions" + ifnull("responses.retransmissions", 0) AS resent
      FROM half_flows)
GROUP BY run, source, destination;

-- How often each kind of event happened to each half-flow, and when.
DROP VIEW IF EXISTS event_counts;
CREATE VIEW event_counts AS
SELECT run, half_flow, kind, cause, place, syndrome, count(*) AS events,
       count(DISTINCT episode) AS episodes, sum(packets) AS packets,
       min(time) AS first_time, max(time) AS last_time
FROM events
GROUP BY run, half_flow, kind, cause, place, syndrome;

-- What every table and view holds, for who opens the database without these lines.
DROP TABLE IF EXISTS descriptions;
CREATE TABLE descriptions (name TEXT PRIMARY KEY, holds TEXT NOT NULL);
INSERT INTO descriptions VALUES
  ('runs', 'one row per analysis that was added: its captures'),
  ('totals', 'counts over the whole trace'),
  ('captures', 'one row per capture file: format, times, what was cut or damaged, trust and its reasons'),
  ('half_flows', 'one row per direction to a queue pair: packets, PSN gaps, retransmissions, NAKs, CNPs, ECN'),
  ('connections', 'one row per pair of half-flows: how sure the pair is, latencies, set-up'),
  ('hosts', 'one row per address: what its NIC should have counted, in the names of hw_counters'),
  ('message_times', 'completion times of messages, by verb and size'),
  ('time_bins', 'what passed in each span of time; of each half-flow with --time-bins'),
  ('subnet_pairs', 'latency, CE share, CNPs and retransmissions from subnet to subnet'),
  ('findings', 'what was found: severity, scope, frames, evidence (JSON), text'),
  ('could_not_judge', 'findings that this trace does not let be judged, and why'),
  ('protocols', 'packets that hold no RoCE, by protocol'),
  ('icmp_errors', 'ICMP errors that quote RoCE packets'),
  ('pauses', 'pause and PFC frames, by sender and priority'),
  ('dcbx', 'what switches and hosts announce of PFC, ETS and application priorities'),
  ('samples', 'RoCE headers in sFlow datagrams, by queue pair'),
  ('events', 'one row per PSN gap, packet sent again, NAK, RNR NAK and CNP'),
  ('descriptions', 'these lines'),
  ('worst_half_flows', 'view: half-flows with short names for what is asked most, the worst first'),
  ('connection_ends', 'view: both ends of a connection in one row, latencies in microseconds'),
  ('host_pairs', 'view: loss and congestion from host to host, over all queue pairs'),
  ('event_counts', 'view: how often each kind of event happened to each half-flow, and when');
