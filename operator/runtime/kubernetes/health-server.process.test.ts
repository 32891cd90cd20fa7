import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { sendHalfClosed } from '../../../test/support/process/raw-http.ts';
import { HealthServers } from './health-server.ts';
import { blockedByReason, OperatorMetrics } from './metrics.ts';

const local = { host: '127.0.0.1', port: 0 };
let servers: HealthServers | undefined;
afterEach(() => servers?.close());

async function start(notReady: () => string | undefined = () => undefined) {
  const metrics = new OperatorMetrics({
    queueDepth: () => 7,
    leads: () => true,
    resources: () => [
      { namespace: 'red', kind: 'Tenant', name: 'demo', status: status('Ready', 'Ready') },
      { namespace: 'red', kind: 'User', name: 'ann', status: status('Stalled', 'InvalidSpec') },
      { namespace: 'red', kind: 'Bucket', name: 'photos', status: undefined },
    ],
    certificateExpiries: () => [
      {
        namespace: 'red',
        kind: 'certificate',
        name: 'demo-kms',
        owner: undefined,
        notAfter: new Date('2026-01-01T00:00:00Z'),
      },
    ],
  });
  servers = await HealthServers.start({ health: local, metrics: local }, { notReady, metrics });
  const [health = '', numbers = ''] = servers.addresses;
  return { metrics, health: `http://${health}`, numbers: `http://${numbers}` };
}

describe('HealthServers', () => {
  it('answers as alive and ready', async () => {
    const { health } = await start();
    expect((await fetch(`${health}/healthz`)).status).toBe(200);
    expect((await fetch(`${health}/readyz`)).status).toBe(200);
  });

  it('says why it is not ready, and is alive meanwhile', async () => {
    const { health } = await start(() => 'waiting for the lists of tenants');
    const ready = await fetch(`${health}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, 'waiting for the lists of tenants\n']);
    expect((await fetch(`${health}/healthz`)).status).toBe(200);
  });

  it('answers a client that closes its sending half', async () => {
    const slow = { contentType: 'text/plain', text: () => sleep(100, 'queue_depth 7') };
    servers = await HealthServers.start({ metrics: local }, { notReady: () => undefined, metrics: slow });
    const request = 'GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n';
    const answer = await sendHalfClosed(`http://${servers.addresses[0]}`, request);
    expect([answer.status, answer.body.includes('queue_depth 7')]).toEqual([200, true]);
  });

  it('keeps metrics off the address of the probes', async () => {
    const { health } = await start();
    expect((await fetch(`${health}/metrics`)).status).toBe(404);
  });

  it('gives the metrics that dashboard and alerts rest on', async () => {
    const { metrics, numbers } = await start();
    metrics.reconciled('Tenant', 'error', 0.3);
    metrics.rollout('ImageChanged');
    metrics.watchRestarted('pods');
    const text = await (await fetch(`${numbers}/metrics`)).text();
    for (const line of [
      'coffer_operator_queue_depth 7',
      'coffer_operator_leader 1',
      'coffer_operator_reconcile_total{kind="Tenant",result="error"} 1',
      'coffer_operator_reconcile_duration_seconds_bucket{le="0.5",kind="Tenant"} 1',
      'coffer_operator_rollouts_total{reason="ImageChanged"} 1',
      'coffer_operator_rollouts_blocked{blocker="PodNotReady"} 0',
      'coffer_operator_watch_restarts_total{resource="pods"} 1',
      'coffer_operator_resource_ready{namespace="red",kind="Tenant",name="demo"} 1',
      'coffer_operator_resource_ready{namespace="red",kind="User",name="ann"} 0',
      'coffer_operator_resource_ready{namespace="red",kind="Bucket",name="photos"} 0',
      'coffer_operator_certificate_expiry_timestamp_seconds{namespace="red",kind="certificate",name="demo-kms"} 1767225600',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });
});

const status = (type: string, reason: string) => ({
  observedGeneration: 1,
  conditions: [{ type, status: 'True' as const, reason, message: '', observedGeneration: 1, lastTransitionTime: '' }],
});

describe('blockedByReason', () => {
  it('counts those that are blocked now', () => {
    const statuses = [status('RolloutBlocked', 'PodNotReady'), status('Ready', 'Ready'), undefined];
    expect([...blockedByReason(statuses)]).toEqual([['PodNotReady', 1]]);
  });
});
