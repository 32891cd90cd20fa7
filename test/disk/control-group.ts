import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = '/sys/fs/cgroup';

interface Limits {
  readonly memoryBytes?: number;
  /** In processors: 0.2 is a fifth of one. */
  readonly processors?: number;
  readonly processes?: number;
}

export interface ControlGroup {
  /** Puts a process and what it starts later into the group. */
  add(pid: number): void;
  /** The count of processes that the kernel has ended for want of memory. */
  outOfMemory(): number;
  remove(): Promise<void>;
}

/** Returns why this machine gives no control group; undefined if it does. Containers often have no right to make one. */
export function controlGroupIssue(): string | undefined {
  try {
    const group = makeControlGroup({ memoryBytes: 512 * 1024 * 1024, processors: 0.2, processes: 1000 });
    void group.remove();
    return undefined;
  } catch (error) {
    return `no control group can be made here: ${(error as Error).message}`;
  }
}

let groups = 0;

/** Makes a group below that of this process, by version 2 of the kernel's interface, or by version 1. Needs root. */
export function makeControlGroup(limits: Limits): ControlGroup {
  groups += 1;
  const name = `coffer-test-${process.pid}-${groups}`;
  const unified = existsSync(join(root, 'cgroup.controllers'));
  const made: string[] = [];
  const folderOf = (controller: string) => join(unified ? root : join(root, controller), name);
  const set = (controller: string, values: Readonly<Record<string, string>>) => {
    const folder = folderOf(controller);
    if (!existsSync(folder)) {
      mkdirSync(folder);
      made.push(folder);
    }
    for (const [file, value] of Object.entries(values)) writeFileSync(join(folder, file), value);
  };
  try {
    const { memoryBytes, processors, processes } = limits;
    if (unified) writeFileSync(join(root, 'cgroup.subtree_control'), '+memory +cpu +pids');
    if (memoryBytes !== undefined) {
      const bytes = String(memoryBytes);
      set('memory', unified ? { 'memory.max': bytes, 'memory.swap.max': '0' } : { 'memory.limit_in_bytes': bytes });
    }
    if (processors !== undefined) {
      const quota = String(Math.round(processors * 100_000));
      set(
        'cpu',
        unified ? { 'cpu.max': `${quota} 100000` } : { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': quota },
      );
    }
    if (processes !== undefined) set('pids', { 'pids.max': String(processes) });
  } catch (error) {
    for (const folder of made) rmdirSync(folder);
    throw error;
  }
  return {
    add: (pid) => {
      for (const folder of made) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    },
    outOfMemory: () => {
      const file = join(folderOf('memory'), unified ? 'memory.events' : 'memory.oom_control');
      return Number(/oom_kill (\d+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
    },
    async remove() {
      // The kernel keeps a group for a moment after its last process has ended.
      for (const folder of made) {
        for (let attempt = 0; existsSync(folder) && attempt < 100; attempt += 1) {
          try {
            rmdirSync(folder);
          } catch {
            await sleep(50);
          }
        }
      }
    },
  };
}
