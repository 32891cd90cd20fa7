import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** The process groups that run now. */
const running = new Set<number>();

/** Signals are not sent to other process groups: without this, tests would go on after the program that started them. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const group of running) kill(group);
    process.exit(128 + constants.signals[signal]);
  });
}

/**
 * Runs a program of Node in a process group of its own, and reports if it ended with 0. The group is killed after the timeout, and when this
 * process is told to stop.
 */
export function runInGroup(
  args: readonly string[],
  { cwd, timeoutMs }: { readonly cwd: string; readonly timeoutMs: number },
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore', detached: true });
    child.once('error', reject);
    const { pid } = child;
    if (pid === undefined) return;
    running.add(pid);
    const timer = setTimeout(() => kill(pid), timeoutMs);
    child.once('close', (code) => {
      clearTimeout(timer);
      running.delete(pid);
      resolve(code === 0);
    });
  });
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    // It has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
