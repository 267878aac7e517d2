import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asked, countsBetween, countsIn } from './request-counts.ts';

const metrics = `# HELP apiserver_flowcontrol_dispatched_requests_total [BETA] Number of requests executed by API Priority and Fairness subsystem
# TYPE apiserver_flowcontrol_dispatched_requests_total counter
apiserver_flowcontrol_dispatched_requests_total{flow_schema="bench-a-leases",priority_level="exempt"} 31
apiserver_flowcontrol_dispatched_requests_total{flow_schema="bench-a-reads",priority_level="exempt"} 1.234567e+06
apiserver_flowcontrol_dispatched_requests_total{flow_schema="bench-a-writes",priority_level="exempt"} 14
apiserver_flowcontrol_dispatched_requests_total{flow_schema="bench-ab-watches",priority_level="exempt"} 7
apiserver_flowcontrol_request_execution_seconds_count{flow_schema="bench-a-watches",priority_level="exempt"} 9
`;

test('the requests of a user are read from the metrics of the API server, by group', () => {
  assert.deepEqual(countsIn(metrics, 'bench-a'), { leases: 31, watches: 0, writes: 14, reads: 1_234_567 });
});

test('between two readings, what was asked is neither the watches nor the lease', () => {
  const before = { leases: 1, watches: 2, writes: 3, reads: 4 };
  const between = countsBetween(before, { leases: 11, watches: 12, writes: 5, reads: 5 });
  assert.deepEqual(between, { leases: 10, watches: 10, writes: 2, reads: 1 });
  assert.equal(asked(between), 3);
});
