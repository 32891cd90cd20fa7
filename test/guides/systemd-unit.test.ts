import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unitOfGuide } from '../support/unit-of-guide.ts';

it('tells systemd when it is ready, and is not restarted for ever', () => {
  const lines = unitOfGuide().split('\n');
  expect(lines).toEqual(expect.arrayContaining(['Type=notify', 'NotifyAccess=all', 'StartLimitBurst=10']));
});

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const works = analyze('security', '--help').stdout?.includes('--offline') ?? false;

// Node needs memory that it writes and executes, sockets and the network; a query of S3 Select gets a lower priority (@resources), and the process of the
// server, which tells systemd that it is ready, is a child of the launcher (NotifyAccess=all).
it.skipIf(!works)('is exposed as little as a server with a compiler of its own can be', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-unit-'));
  try {
    const path = join(folder, 'coffer.service');
    writeFileSync(path, unitOfGuide());
    expect(analyze('security', '--offline=true', '--no-pager', '--threshold=14', path)).toMatchObject({ status: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
