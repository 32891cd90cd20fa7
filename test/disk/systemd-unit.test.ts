import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { unitOfGuide } from '../support/unit-of-guide.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
/** Where the checkout is in the machine: the unit hides the home folders. */
const installed = '/opt/coffer';
/** Milliseconds. A quiet machine needs five seconds. */
const BOOT_MS = 240_000;
const folder = mkdtempSync(join(tmpdir(), 'coffer-systemd-'));
const root = join(folder, 'root');
const undo: (() => unknown)[] = [];

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });
}

/** A machine with the files of this one, whose changes are kept in memory, and with a systemd of its own. */
class Machine {
  readonly #leader: string;

  private constructor(leader: string) {
    this.#leader = leader;
  }

  static async boot(): Promise<Machine> {
    const layer = join(folder, 'layer');
    for (const path of [layer, root]) mkdirSync(path);
    run('mount', '-t', 'tmpfs', 'tmpfs', layer);
    undo.push(() => run('umount', layer));
    for (const name of ['upper', 'work']) mkdirSync(join(layer, name));
    const layers = `lowerdir=/,upperdir=${layer}/upper,workdir=${layer}/work`;
    run('mount', '-t', 'overlay', 'overlay', '-o', layers, root);
    undo.push(() => run('umount', root));
    install();
    const options = [
      '--private-network',
      '--register=no',
      '--keep-unit',
      '--console=pipe',
      `--bind-ro=${checkout}:${installed}`,
    ];
    const units = ['systemd.unit=basic.target', 'systemd.mask=timers.target'];
    const child = spawn('systemd-nspawn', ['-D', root, ...options, '--boot', ...units], { stdio: 'ignore' });
    undo.push(() => ended(child));
    for (const deadline = Date.now() + BOOT_MS; ;) {
      const leader = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
      const machine = new Machine(leader);
      // `starting` ends with an error, too. `degraded` has started, and a service of this machine that is not of the test has failed.
      const state = leader === '' ? 'no process' : machine.attempt('systemctl', 'is-system-running');
      if (['running', 'degraded'].includes(state)) return machine;
      if (Date.now() > deadline) throw new Error(`systemd is still "${state}" after ${BOOT_MS} ms`);
      if (child.exitCode !== null) throw new Error(`systemd-nspawn ended with ${child.exitCode}`);
      await sleep(200);
    }
  }

  run(...command: string[]): string {
    return run('nsenter', '-t', this.#leader, '-m', '-u', '-i', '-n', '-p', '--', ...command).trim();
  }

  attempt(...command: string[]): string {
    try {
      return this.run(...command);
    } catch (error) {
      return (error as { readonly stdout?: string }).stdout?.trim() ?? '';
    }
  }

  property(name: string): string {
    return this.run('systemctl', 'show', '--value', '-p', name, 'coffer');
  }

  readiness(): string {
    const url = 'http://127.0.0.1:9000/minio/health/ready';
    return this.attempt('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', url);
  }
}

/** Does what the guide says, with this checkout as the package. */
function install(): void {
  run('chroot', root, 'useradd', '--system', '--home-dir', '/srv/coffer', '--create-home', 'coffer');
  run('chroot', root, 'install', '-d', '-m', '700', '-o', 'coffer', '-g', 'coffer', '/srv/coffer/data');
  const settings = join(root, 'etc/default/coffer');
  writeFileSync(settings, 'SVC_ROOT_USER=admin\nSVC_ROOT_PASSWORD=a-password-of-tests\nSVC_VOLUMES=/srv/coffer/data\n');
  run('chroot', root, 'chown', 'root:coffer', '/etc/default/coffer');
  chmodSync(settings, 0o640);
  writeFileSync(join(root, 'etc/systemd/system/coffer.service'), unitOfGuide());
  for (const [name, path] of Object.entries({
    'coffer-server': 'bin/coffer-server.js',
    node: relative(checkout, process.execPath),
  })) {
    rmSync(join(root, 'usr/local/bin', name), { force: true });
    symlinkSync(join(installed, path), join(root, 'usr/local/bin', name));
  }
}

async function ended(child: ChildProcess): Promise<void> {
  // systemd-nspawn stops its machine.
  child.kill('SIGTERM');
  while (child.exitCode === null && child.signalCode === null) await sleep(100);
}

/** Returns why this machine starts no other one. */
async function started(): Promise<Machine | string> {
  try {
    return await Machine.boot();
  } catch (error) {
    return `no systemd can be started here: ${(error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 200)}`;
  }
}

const machine = await started();
afterAll(async () => {
  for (const step of undo.toReversed()) await step();
  rmSync(folder, { recursive: true });
}, 180_000);

const told = typeof machine === 'string' ? ` (${machine})` : '';
const itBoots = it.skipIf(typeof machine === 'string');
const there = () => (typeof machine === 'string' ? expect.fail(machine) : machine);

describe(`the unit of the guide under systemd${told}`, { timeout: 300_000 }, () => {
  itBoots('is started when the server is ready, and no sooner', () => {
    there().run('systemctl', 'start', 'coffer');
    expect(there().property('ActiveState')).toBe('active');
    expect(there().readiness()).toBe('200');
  });

  itBoots('is started again after a server that was killed', async () => {
    there().run('systemctl', 'kill', '--signal=KILL', 'coffer');
    await expect.poll(() => there().property('NRestarts'), { timeout: 180_000 }).toBe('1');
    await expect.poll(() => there().property('ActiveState'), { timeout: 180_000 }).toBe('active');
    expect(there().readiness()).toBe('200');
  });

  itBoots('stops as one that ended well', () => {
    there().run('systemctl', 'stop', 'coffer');
    expect(there().property('Result')).toBe('success');
    expect(there().run('journalctl', '-u', 'coffer', '-o', 'cat')).toContain('stopping: SIGTERM');
  });

  itBoots('is left "failed" with the reason where the records are damaged', async () => {
    const file = await open(join(root, 'srv/coffer/data/records/data.mdb'), 'r+');
    await file.write(Buffer.alloc(2 * 4096), 0, 2 * 4096, 0);
    await file.close();
    there().attempt('systemctl', 'start', 'coffer');
    await expect.poll(() => there().property('ActiveState'), { timeout: 600_000, interval: 1_000 }).toBe('failed');
    expect(there().property('NRestarts')).toBe('10');
    expect(there().run('journalctl', '-u', 'coffer', '-o', 'cat')).toMatch(/the record file \S+data\.mdb is damaged: /);
  });
});
