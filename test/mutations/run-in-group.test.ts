import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const module = new URL('run-in-group.ts', import.meta.url).href;

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends its programs, and theirs, on %s', async (signal) => {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-group-'));
  const file = join(folder, 'pid');
  // A program that starts another one, which never ends.
  const inner = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1e6)`;
  const outer = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(inner)}])`;
  const code = `import(${JSON.stringify(module)}).then(({ runInGroup }) =>
    runInGroup(['-e', ${JSON.stringify(outer)}], { cwd: '/', timeoutMs: 600_000 }))`;
  const main = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  try {
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+$/);
    const pid = readFileSync(file, 'utf8');
    const ended = once(main, 'exit');
    main.kill(signal);
    await ended;
    await expect.poll(() => isRunning(pid)).toBe(false);
  } finally {
    main.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});

/** A process that has ended may have no parent that takes notice of it. */
function isRunning(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
