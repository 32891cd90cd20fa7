import { readdirSync, readFileSync } from 'node:fs';

/** Processes whose parent this is. Linux alone has them under `/proc`. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((candidate) => Number.isInteger(candidate) && parentOf(candidate) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold anything; the state and the parent come after it.
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone between the look and the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Signals a process and all below it: the parent before its children, so that it makes no new ones meanwhile. */
export function signalTree(pid: number | undefined, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === undefined) return;
  signalOne(pid, signal === 'SIGKILL' ? 'SIGSTOP' : signal);
  for (const child of childrenOf(pid)) signalTree(child, signal);
  if (signal === 'SIGKILL') signalOne(pid, signal);
}
