import type { PersonCheck } from './access/person-check.ts';
import type { TaskReport } from './maintenance/background-tasks.ts';
import type { Hold, Lease } from './replicas/lease.ts';
import { repeated } from './replicas/repeated.ts';

/** The part of the logger that is used here. */
export interface CheckingLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Milliseconds. A round that is cut off is repeated after the next start. */
const patience = 1_000;

/** Asks about everyone who has credentials, round after round, while this server holds the lease, until it is stopped. */
export function keepChecking(
  check: Pick<PersonCheck, 'run'>,
  lease: Pick<Lease, 'hold'>,
  log: CheckingLog,
  intervalMs: number,
  tasks: Pick<TaskReport, 'run'>,
): { stop(): Promise<void> } {
  if (intervalMs === 0) return { stop: () => Promise.resolve() };
  const stopping = new AbortController();
  let hold: Hold | undefined;
  const ended = () => stopping.signal.aborted || hold?.signal.aborted === true;
  const round = async () => {
    const held = lease.hold();
    hold = held;
    if (held === undefined) return;
    const run = async () => {
      const { checked, cutOff } = await check.run(undefined, AbortSignal.any([held.signal, stopping.signal]));
      if (cutOff.length > 0) log.info({ checked, cutOff: cutOff.length }, 'people who are gone lost their access');
    };
    await tasks.run('people', intervalMs, run, ended);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!ended()) log.error({ err: error, retryInMs: intervalMs }, 'people could not be looked up');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(patience);
    },
  };
}
