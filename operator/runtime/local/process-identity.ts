import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process of this machine. The number alone may belong to another process later. */
interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** Returns the process with this number; undefined when there is none. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

export function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(text) as Partial<ProcessIdentity>;
    const { pid, startedAt } = value;
    return typeof pid === 'number' && Number.isInteger(pid) && pid > 1 && typeof startedAt === 'string'
      ? { pid, startedAt }
      : undefined;
  } catch {
    return undefined;
  }
}

/** @see proc_pid_stat(5): field 22, counted after the command's closing parenthesis; field 3 is Z for one that has ended. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startByPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}
