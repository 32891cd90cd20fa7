import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { adminTest } from '../../../test/support/admin/admin.ts';
import type { BatchJob, BatchJobs } from '../../maintenance/batch/batch-jobs.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A job that never ends, so that its metrics have no end either. */
const job: BatchJob = {
  id: 'job',
  type: 'expire',
  user: 'root',
  bucket: 'bucket',
  definition: '',
  started: 0,
  updated: 0,
  objects: 0,
  deleteMarkers: 0,
  failed: 0,
};
const batchJobs = { list: () => Promise.resolve([job]) } as unknown as BatchJobs;

async function following() {
  const test = await adminTest({ services: { batchJobs } });
  await test.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  const Statement = [{ Effect: 'Allow', Action: 'admin:*', Resource: 'arn:aws:s3:::*' }];
  await test.identities.putPolicy('all', JSON.stringify({ Version: '2012-10-17', Statement }));
  await test.identities.attach({ kind: 'user', name: 'ann' }, ['all']);
  const { body } = await test.answer('ann', 'GET', 'metrics?types=8');
  if (body.kind !== 'endless') throw new Error(`the answer is ${body.kind}`);
  const lines = body.chunks(new AbortController().signal)[Symbol.asyncIterator]();
  expect(await lines.next()).toMatchObject({ done: false });
  return { ...test, lines };
}

/** Reads until the end, which comes after what was written before. */
async function end(lines: AsyncIterator<Buffer>): Promise<true> {
  for (;;) if ((await lines.next()).done === true) return true;
}

it('a stream of the admin API ends when the policy of its caller is detached', async () => {
  const { identities, lines } = await following();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await lines.next()).toMatchObject({ done: false });
  await identities.detach({ kind: 'user', name: 'ann' }, ['all']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await end(lines)).toBe(true);
});

it('a stream of the admin API ends when its caller is disabled', async () => {
  const { identities, lines } = await following();
  await identities.putUser({ accessKey: 'ann', status: 'disabled' });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await end(lines)).toBe(true);
});
