import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { measureDrive } from './drive-speed.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-drive-speed-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function context(free = 1e9) {
  return { folder, free: () => Promise.resolve(free), random: randomBytes, clock: () => performance.now() };
}
const asked = { blockSize: 64 * 1024, fileSize: 256 * 1024 };

it('measures a drive, and leaves no file', async () => {
  const speed = await measureDrive(context(), asked, new AbortController().signal);
  expect(speed).toMatchObject({ path: folder });
  expect(Math.min(speed.readBytesPerSecond, speed.writeBytesPerSecond)).toBeGreaterThan(0);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves no file where the client disconnects', async () => {
  await expect(measureDrive(context(), asked, AbortSignal.abort())).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
});

it('writes a quarter of the free space at most', async () => {
  const huge = { blockSize: 64 * 1024, fileSize: 1e15 };
  await expect(measureDrive(context(1024 * 1024), huge, new AbortController().signal)).resolves.toMatchObject({
    path: folder,
  });
});
