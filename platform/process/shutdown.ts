import { isMainThread } from 'node:worker_threads';
import { flushLogOutputs } from '../output/log-output.ts';
import type { Logger } from '../output/logger.ts';

/**
 * Ends this process immediately, from any thread (SIGKILL: a shell sees 137). `process.exit` is too slow for a process whose disk fails: it
 * waits for the other threads and for their native parts, which may hang or crash, and until then they answer requests. The caller must log
 * the reason first.
 */
export function endAtOnce(): void {
  flushLogOutputs();
  process.kill(process.pid, 'SIGKILL');
  // The first process of a container cannot send this signal to itself. A fault of the processor ends it.
  if (process.pid !== 1) return;
  if (isMainThread) process.abort();
  // The main thread ends the process when one of its threads does.
  process.exit(1);
}

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof signals;

/** The terminal and the launcher both send a signal. Two signals within this time count as one. */
const sameWishMs = 1000;

/** The part of `process` that is used. Tests pass their own. */
interface ProcessLike {
  readonly env: Record<string, string | undefined>;
  on(event: string, listener: () => void): unknown;
  exit(code: number): unknown;
  send?: unknown;
  /** False once the channel to the parent has closed. */
  readonly connected?: boolean;
  readonly channel?: { unref(): void } | null | undefined;
}

interface ShutdownOptions {
  readonly log: Logger;
  /** The timeout in milliseconds after which the process exits with 1 although the stop has not finished. */
  readonly timeoutMs?: number;
  /** Ends the process where the stop failed, took too long, or must not be waited for; `process.exit` by default. */
  readonly giveUp?: (code: number) => void;
  /** The handler of SIGHUP. Without it SIGHUP stops the process. */
  readonly onHangup?: () => void;
  readonly process?: ProcessLike;
  readonly now?: () => number;
}

/** Requests the stop from inside the process. After a clean stop it calls `then` instead of exiting with 0. */
export type AskForStop = (reason: string, then?: () => void) => void;

/**
 * Runs `stop` once when the process gets a signal to end, then exits: 0 after a clean stop, 1 if stopping failed or took too long. A second
 * signal, more than a moment after the first, exits immediately with 128 plus its number, or as `giveUp` does.
 *
 * If a launcher or the local runtime started it (`COFFER_EXIT_WITH_PARENT`), the process also ends when its parent does, even by SIGKILL:
 * the IPC channel then closes. The variable is removed from the environment, so that child processes, which have no such channel, do not
 * inherit it.
 */
export function onShutdown(options: ShutdownOptions, stop: (reason: string) => Promise<void>): AskForStop {
  const { log, timeoutMs = 30_000, now = Date.now } = options;
  const self = options.process ?? process;
  let atLast = (): void => {
    self.exit(0);
  };
  const giveUp = options.giveUp ?? ((code: number) => void self.exit(code));
  let askedAt: number | undefined;

  const begin = (reason: string) => {
    askedAt = now();
    log.info({ reason }, `stopping: ${reason}`);
    setTimeout(() => {
      log.error({ timeoutMs }, `stopping took longer than ${timeoutMs} ms: exiting`);
      giveUp(1);
    }, timeoutMs).unref();
    void run(reason);
  };
  const run = async (reason: string) => {
    try {
      await stop(reason);
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      giveUp(1);
      return;
    }
    log.info('stopped');
    atLast();
  };

  for (const [signal, number] of Object.entries(signals) as [StopSignal, number][]) {
    self.on(signal, () => {
      if (signal === 'SIGHUP' && options.onHangup !== undefined) return options.onHangup();
      if (askedAt === undefined) begin(signal);
      else if (now() - askedAt >= sameWishMs) giveUp(128 + number);
    });
  }

  // Node would open a debugger on a port of this machine, by which any local user could run code here.
  self.on('SIGUSR1', () => log.warn('SIGUSR1 is ignored: this program has no debugger'));

  if (takeExitWithParent(self)) {
    const endWithParent = (): void => {
      if (askedAt === undefined) begin('the parent process ended');
    };
    self.on('disconnect', endWithParent);
    // A parent that died while this program was loading sent the event before anything listened. The caller finishes its setup first.
    if (self.connected === false) setImmediate(endWithParent);
    // The listener alone would keep the process alive.
    self.channel?.unref();
  }

  return (reason, then) => {
    if (askedAt !== undefined) return;
    if (then !== undefined) atLast = then;
    begin(reason);
  };
}

/** Reports whether this process must end with its parent, and removes the variable from the environment. */
function takeExitWithParent(self: ProcessLike): boolean {
  const marked = self.env['COFFER_EXIT_WITH_PARENT'] === '1';
  delete self.env['COFFER_EXIT_WITH_PARENT'];
  return marked && self.send !== undefined;
}
