import { readFileSync } from 'node:fs';

/** Milliseconds between two looks. */
const pauseMs = 500;

/**
 * Calls `ended` when the npm that runs this process has ended. npm passes signals on, and cannot when it is killed: the demonstration would
 * go on without a terminal. Without npm, or without /proc, it does nothing.
 */
export function watchNpm(ended: (reason: string) => void, start: number = process.ppid): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const npm = npmAbove(start);
  if (npm === undefined) return;
  const timer = setInterval(() => {
    if (isNpm(npm)) return;
    clearInterval(timer);
    ended('npm has ended');
  }, pauseMs);
  timer.unref();
}

/** Returns the nearest process above that is npm. A shell is mostly between. */
function npmAbove(start: number): number | undefined {
  for (let pid = start, steps = 0; pid > 1 && steps < 4; pid = parentOf(pid), steps += 1) if (isNpm(pid)) return pid;
  return undefined;
}

/** npm calls itself `npm start`; a process of the same number that came later does not. */
function isNpm(pid: number): boolean {
  return /^npm\b|[/\0]npm(?:-cli\.js)?(?:\0|$)/.test(read(pid, 'cmdline'));
}

/** The fields of the file follow the name of the program, which is in parentheses and may contain spaces. */
function parentOf(pid: number): number {
  return Number(/\) \S (\d+)/.exec(read(pid, 'stat'))?.[1] ?? 0);
}

function read(pid: number, file: 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
