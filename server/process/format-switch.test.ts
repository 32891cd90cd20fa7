import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Hold } from '../cluster/lease.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import { decodeDeployment, deploymentKey, encodeDeployment } from '../store/deployment.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { commitId } from '../../test/support/store/patient.ts';
import { runFormatSwitch } from './format-switch.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const hold: Hold = { generation: 1, fence: [], signal: new AbortController().signal };
const here: ServerFacts = {
  id: '1',
  endpoint: '10.0.0.1:9000',
  version: '1.0.0',
  startedAt: 0,
  keyService: false,
  format: 4,
};
const older: ServerFacts = { ...here, id: '2', endpoint: '10.0.0.2:9000', format: 3 };

/** The switch of a server that shares its records, and holds the lease once `lease.held` says so. */
async function running() {
  const records = new MemoryRecordStore();
  const value = encodeDeployment({ deploymentId: '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111', marked: true });
  await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
  const events: unknown[] = [];
  const note = (fields: object) => void events.push('event' in fields ? fields.event : fields);
  const lease = { held: false, hold: () => (lease.held ? hold : undefined), close: () => Promise.resolve() };
  const cluster = { live: [here, older] };
  const formatSwitch = runFormatSwitch(
    { stores: { records, shared: true } },
    { lease, members: () => cluster.live },
    { info: note, warn: note },
  );
  const stored = async () => decodeDeployment((await records.get(deploymentKey))?.value ?? Buffer.of(), 'here');
  return { events, lease, cluster, stored, formatSwitch };
}

it('says once which server holds the switch up, on a server that does not hold the lease, too', async () => {
  const { events, lease, stored, formatSwitch } = await running();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(events).toEqual(['format-held']);
  lease.held = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(events).toEqual(['format-held']);
  expect(await stored()).toMatchObject({ format: 1 });
  await formatSwitch.stop();
});

it('leaves the switch to the server with the lease, and says when it is done', async () => {
  const { events, lease, cluster, stored, formatSwitch } = await running();
  cluster.live = [here];
  await vi.advanceTimersByTimeAsync(60_000);
  expect([events, await stored()]).toMatchObject([[], { format: 1 }]);
  lease.held = true;
  await vi.advanceTimersByTimeAsync(60_000);
  lease.held = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([events, await stored()]).toMatchObject([['format-switched'], { format: 4, writes: 4 }]);
  await formatSwitch.stop();
});
