import type { PersonCheck } from './access/person-check.ts';
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
): { stop(): Promise<void> } {
  if (intervalMs === 0) return { stop: () => Promise.resolve() };
  const stopping = new AbortController();
  let hold: Hold | undefined;
  const round = async () => {
    hold = lease.hold();
    if (hold === undefined) return;
    const { checked, cutOff } = await check.run(undefined, AbortSignal.any([hold.signal, stopping.signal]));
    if (cutOff.length > 0) log.info({ checked, cutOff: cutOff.length }, 'people who are gone lost their access');
  };
  const rounds = repeated(intervalMs, round, (error) => {
    const ended = stopping.signal.aborted || hold?.signal.aborted === true;
    if (!ended) log.error({ err: error, retryInMs: intervalMs }, 'people could not be looked up');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(patience);
    },
  };
}
