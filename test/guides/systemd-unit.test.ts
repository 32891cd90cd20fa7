import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The unit as a reader of the guide copies it. */
function unit(): string {
  const guide = readFileSync(new URL('../../docs/guides/server.md', import.meta.url), 'utf8');
  const [, text = ''] = /```ini\n(.*?)```/s.exec(guide) ?? [];
  return text.replaceAll(/^ {3}/gm, '');
}

it('tells systemd when it is ready, and is not restarted for ever', () => {
  const lines = unit().split('\n');
  expect(lines).toEqual(expect.arrayContaining(['Type=notify', 'NotifyAccess=all', 'StartLimitBurst=10']));
});

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const works = analyze('security', '--help').stdout?.includes('--offline') ?? false;

it.skipIf(!works)('is exposed as little as a server with a compiler of its own can be', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-unit-'));
  try {
    const path = join(folder, 'coffer.service');
    writeFileSync(path, unit());
    expect(analyze('security', '--offline=true', '--no-pager', '--threshold=14', path)).toMatchObject({ status: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
