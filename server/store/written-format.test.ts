import { expect, it } from 'vitest';
import { commitId } from '../../test/support/store/patient.ts';
import { decodeDeployment, deploymentKey, encodeDeployment } from './deployment.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { FormatSwitch, WrittenFormat } from './written-format.ts';

const deploymentId = '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111';
const here = { endpoint: '10.0.0.1:9000', format: 4 };

async function deployment() {
  const records = new MemoryRecordStore();
  const value = encodeDeployment({ deploymentId, marked: true });
  await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
  return records;
}

async function stored(records: MemoryRecordStore) {
  const entry = await records.get(deploymentKey);
  return entry && decodeDeployment(entry.value, 'here');
}

it('lets a lone server write the newest format at once', async () => {
  const records = await deployment();
  const written = new WrittenFormat(records);
  expect(await written.isNewest()).toBe(false);
  const one = new FormatSwitch({ records, members: () => [here], waitMs: 0, clock: () => 0 });
  expect(await one.step()).toEqual({ kind: 'done', by: [] });
  expect(await stored(records)).toEqual({ format: 4, deploymentId, marked: true, writes: 4 });
  expect(await written.isNewest()).toBe(true);
});

it('keeps older servers out first, and looks for one again before any server writes the format', async () => {
  const records = await deployment();
  let now = 0;
  let members: { endpoint: string; format?: number }[] = [here, { endpoint: '10.0.0.2:9000' }];
  const one = new FormatSwitch({ records, members: () => members, waitMs: 12_000, clock: () => now });
  expect(await one.step()).toEqual({ kind: 'held', by: ['10.0.0.2:9000'] });
  expect(await stored(records)).toMatchObject({ format: 1 });
  members = [here];
  expect(await one.step()).toEqual({ kind: 'waits' });
  expect(await stored(records)).toEqual({ format: 4, deploymentId, marked: true });
  expect(await one.step()).toEqual({ kind: 'waits' });
  // An older server that had read the record before is seen now, and leaves again: the wait begins anew.
  now = 11_000;
  members = [here, { endpoint: '10.0.0.3:9000', format: 3 }];
  expect(await one.step()).toEqual({ kind: 'held', by: ['10.0.0.3:9000'] });
  members = [here];
  now = 13_000;
  expect(await one.step()).toEqual({ kind: 'waits' });
  now = 24_999;
  expect(await one.step()).toEqual({ kind: 'waits' });
  now = 25_000;
  expect(await one.step()).toEqual({ kind: 'done', by: [] });
  expect(await one.step()).toEqual({ kind: 'done', by: [] });
});

it('names an older server that is there after the switch', async () => {
  const records = await deployment();
  let members: { endpoint: string; format?: number }[] = [here];
  const one = new FormatSwitch({ records, members: () => members, waitMs: 0, clock: () => 0 });
  expect(await one.step()).toEqual({ kind: 'done', by: [] });
  members = [here, { endpoint: '10.0.0.4:9000' }];
  expect(await one.step()).toEqual({ kind: 'done', by: ['10.0.0.4:9000'] });
});

it('goes on after a kill, on another server too', async () => {
  const records = await deployment();
  const options = { records, members: () => [here], waitMs: 12_000 };
  await new FormatSwitch({ ...options, clock: () => 0 }).step();
  let now = 0;
  const other = new FormatSwitch({ ...options, clock: () => now });
  // Its clock begins when it first reads that older servers are kept out.
  expect(await other.step()).toEqual({ kind: 'waits' });
  now = 12_000;
  expect(await other.step()).toEqual({ kind: 'done', by: [] });
});

it('keeps what another server writes meanwhile', async () => {
  const records = await deployment();
  const commit = records.commit.bind(records);
  let first = true;
  records.commit = async (batch) => {
    if (first) {
      first = false;
      await commit({
        id: commitId(),
        put: [{ key: deploymentKey, value: encodeDeployment({ deploymentId, marked: false }) }],
      });
    }
    return commit(batch);
  };
  const one = new FormatSwitch({ records, members: () => [here], waitMs: 0, clock: () => 0 });
  expect(await one.step()).toEqual({ kind: 'waits' });
  expect(await one.step()).toEqual({ kind: 'done', by: [] });
  expect(await stored(records)).toEqual({ format: 4, deploymentId, marked: false, writes: 4 });
});
