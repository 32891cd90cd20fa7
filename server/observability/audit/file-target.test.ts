import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileTarget } from './file-target.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function open(path: string, sums = { sent: 0, dropped: 0, waiting: 0 }) {
  const report = {
    sent: (entries: number) => (sums.sent += entries),
    dropped: (entries: number) => (sums.dropped += entries),
    waiting: (entries: number) => (sums.waiting = entries),
    tried: () => undefined,
  };
  return FileTarget.open({ path, report, log: quiet, retryMs: 1 });
}

const linesOf = async (path: string) => (await readFile(path, 'utf8')).split('\n').slice(0, -1);

describe('a file of the audit log', () => {
  it('has an entry on each line, after those that were there', async () => {
    const path = join(folder, 'audit.log');
    for (const line of ['first', 'second']) {
      const file = await open(path);
      file.take(line);
      await file.close(60_000);
    }
    expect(await linesOf(path)).toEqual(['first', 'second']);
  });

  it('is for its owner alone', async () => {
    const path = join(folder, 'audit.log');
    await (await open(path)).close(60_000);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('begins anew once it was moved and the server told', async () => {
    const path = join(folder, 'audit.log');
    const sums = { sent: 0, dropped: 0, waiting: 0 };
    const file = await open(path, sums);
    file.take('first');
    await expect.poll(() => sums.sent).toBe(1);
    await rename(path, `${path}.1`);
    file.reopen();
    file.take('second');
    await file.close(60_000);
    expect([await linesOf(`${path}.1`), await linesOf(path)]).toEqual([['first'], ['second']]);
  });

  it('waits for a disk that cannot be written to', async () => {
    const path = join(folder, 'sub', 'audit.log');
    await expect(open(path)).rejects.toThrow(/ENOENT/);
    const plain = join(folder, 'audit.log');
    const sums = { sent: 0, dropped: 0, waiting: 0 };
    const file = await open(plain, sums);
    await rename(folder, `${folder}-away`);
    file.reopen();
    file.take('first');
    await expect.poll(() => sums.waiting).toBe(1);
    expect(sums.sent).toBe(0);
    await rename(`${folder}-away`, folder);
    await file.close(60_000);
    expect([(await linesOf(plain)).filter((line) => line !== ''), sums.sent, sums.dropped]).toEqual([['first'], 1, 0]);
  });

  it('does not keep a server from ending while it cannot be written to', async () => {
    const sums = { sent: 0, dropped: 0, waiting: 0 };
    const file = await open(join(folder, 'audit.log'), sums);
    await rename(folder, `${folder}-away`);
    file.reopen();
    file.take('first');
    await expect.poll(() => sums.waiting).toBe(1);
    await file.close(1);
    expect(sums).toMatchObject({ sent: 0, dropped: 1 });
    await rename(`${folder}-away`, folder);
  });
});
