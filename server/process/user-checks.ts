import type { StructuredLog } from '../../platform/output/structured-log.ts';
import type { Hold, Lease } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import type { UserStatusCheck } from '../federation/user-status-check.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { roundGracePeriodMs } from './repeat-task.ts';

/** Runs the user status check periodically while this server holds the lease, until it is stopped. */
export function runUserChecks(
  check: Pick<UserStatusCheck, 'run'>,
  lease: Pick<Lease, 'hold'>,
  log: Pick<StructuredLog, 'info' | 'error'>,
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
      const { checked, cutOff: revoked } = await check.run(undefined, AbortSignal.any([held.signal, stopping.signal]));
      if (revoked.length > 0) log.info({ checked, cutOff: revoked.length }, 'access of external users was revoked');
    };
    await tasks.run('people', intervalMs, run, ended);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!ended()) log.error({ err: error, retryInMs: intervalMs }, 'people could not be looked up');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(roundGracePeriodMs);
    },
  };
}
