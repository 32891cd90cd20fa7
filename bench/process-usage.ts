import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Linux counts the time of processes in hundredths of a second. @see proc_pid_stat(5) */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** Of the fields after the command's name, which may hold spaces and brackets. Undefined when it is no such line. */
export function parseStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  if (parent === undefined || user === undefined || system === undefined || Number.isNaN(user + system))
    return undefined;
  return { parent, cpuSeconds: (user + system) / ticksPerSecond };
}

/** A process and all that descend from it: a server with its launcher. */
export class ProcessTree {
  readonly #root: number;

  constructor(root: number) {
    this.#root = root;
  }

  pids(): number[] {
    const parents = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
      if (/^\d+$/.test(entry)) parents.set(Number(entry), stat(Number(entry))?.parent ?? 0);
    }
    const tree = [this.#root];
    for (const known of tree) {
      for (const [pid, parent] of parents) if (parent === known) tree.push(pid);
    }
    return tree;
  }

  cpuSeconds(): number {
    return this.pids().reduce((sum, pid) => sum + (stat(pid)?.cpuSeconds ?? 0), 0);
  }

  /** The highest resident memory since `resetPeak`, in bytes: files that are mapped count with it. */
  peakBytes(): number {
    return this.#sum('VmHWM');
  }

  /** Resident memory now that is no file: what the process asked for itself, in bytes. */
  anonymousBytes(): number {
    return this.#sum('RssAnon');
  }

  /** False where the system does not allow it: the peak is then that of the process' life. */
  resetPeak(): boolean {
    try {
      for (const pid of this.pids()) writeFileSync(`/proc/${pid}/clear_refs`, '5');
      return true;
    } catch {
      return false;
    }
  }

  #sum(field: string): number {
    return this.pids().reduce((sum, pid) => sum + statusBytes(pid, field), 0);
  }
}

function stat(pid: number): ProcessStat | undefined {
  return parseStat(read(`/proc/${pid}/stat`));
}

function statusBytes(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`));
  return Number(line?.[1] ?? 0) * 1024;
}

/** '' when the process has ended in the meantime. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
