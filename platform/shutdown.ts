import type { Logger } from './logger.ts';

/**
 * Ends this process before anything else of it runs, from any thread (SIGKILL: a shell sees 137). `process.exit` is no end for a
 * process whose disk fails: it waits for the other threads and takes down their native parts, which may hang or crash, and until
 * then they answer. Whoever calls this has written down why.
 */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof signals;

/** The launcher forwards what the terminal also sent to this process: within this time two signals are one wish. */
const sameWishMs = 1000;

/** What this needs of the process; tests hand in one of their own. */
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
  /** Milliseconds after which the process exits with 1 although the stop has not finished. */
  readonly timeoutMs?: number;
  /** What SIGHUP is for instead of an end. */
  readonly onHangup?: () => void;
  readonly process?: ProcessLike;
  readonly now?: () => number;
}

/** Asks for the stop from within. `then` is done after a clean stop, in place of the exit with 0. */
export type AskForStop = (reason: string, then?: () => void) => void;

/**
 * Runs `stop` once when the process is asked to end, then exits: 0 when it stopped cleanly, 1 when stopping failed or took too
 * long. A second signal, later than a moment after the first, exits at once with 128 plus its number.
 *
 * Started by a launcher or by the local runtime (`COFFER_EXIT_WITH_PARENT`), the process also ends when its parent does, even
 * by SIGKILL: the IPC channel then closes. The variable is taken out of the environment, so that processes started from here,
 * which have no such channel, do not inherit it.
 */
export function onShutdown(options: ShutdownOptions, stop: (reason: string) => Promise<void>): AskForStop {
  const { log, timeoutMs = 30_000, now = Date.now } = options;
  const self = options.process ?? process;
  let atLast = (): void => {
    self.exit(0);
  };
  let askedAt: number | undefined;

  const begin = (reason: string) => {
    askedAt = now();
    log.info({ reason }, `stopping: ${reason}`);
    setTimeout(() => {
      log.error({ timeoutMs }, `stopping took longer than ${timeoutMs} ms: exiting`);
      self.exit(1);
    }, timeoutMs).unref();
    void run(reason);
  };
  const run = async (reason: string) => {
    try {
      await stop(reason);
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      self.exit(1);
      return;
    }
    log.info('stopped');
    atLast();
  };

  for (const [signal, number] of Object.entries(signals) as [StopSignal, number][]) {
    self.on(signal, () => {
      if (signal === 'SIGHUP' && options.onHangup !== undefined) return options.onHangup();
      if (askedAt === undefined) begin(signal);
      else if (now() - askedAt >= sameWishMs) self.exit(128 + number);
    });
  }

  if (takeExitWithParent(self)) {
    const endWithParent = (): void => {
      if (askedAt === undefined) begin('the parent process ended');
    };
    self.on('disconnect', endWithParent);
    // A parent that died while this program was loading sent the event before anything listened. The caller finishes its setup first.
    if (self.connected === false) setImmediate(endWithParent);
    // A listener alone would keep the process alive.
    self.channel?.unref();
  }

  return (reason, then) => {
    if (askedAt !== undefined) return;
    if (then !== undefined) atLast = then;
    begin(reason);
  };
}

/** Whether this process must end with its parent; asking takes the mark out of the environment. */
function takeExitWithParent(self: ProcessLike): boolean {
  const marked = self.env['COFFER_EXIT_WITH_PARENT'] === '1';
  delete self.env['COFFER_EXIT_WITH_PARENT'];
  return marked && self.send !== undefined;
}
