import { fencedRecords } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import { registryTimes } from '../cluster/server-registry.ts';
import type { Membership } from '../cluster/membership.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreError, isStoreUnavailable } from '../store/store-error.ts';
import { FormatSwitch, type SwitchState } from '../store/written-format.ts';
import type { ThreadStores } from './thread-stores.ts';

interface SwitchLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const monotonic = () => performance.now();

/** Switches the deployment to the newest format while this server holds the lease. Every server logs which servers delay the switch, and its end. */
export function runFormatSwitch(
  { stores }: { readonly stores: Pick<ThreadStores, 'records' | 'shared'> },
  { lease, members }: Pick<Membership, 'lease' | 'members'>,
  log: SwitchLog,
): { stop(): Promise<void> } {
  let told = '';
  const tell = (state: SwitchState) => {
    const news = state.kind === 'waits' ? told : JSON.stringify(state);
    if (news === told || state.kind === 'waits') return;
    told = news;
    const servers = state.by.join(', ');
    if (state.kind === 'held') {
      log.info(
        { event: 'format-held', servers: state.by },
        `records are written in the format before this one: ${servers} cannot read it, or has SVC_STORAGE_FORMAT=3`,
      );
    } else if (state.by.length > 0) {
      log.warn(
        { event: 'format-older-server', servers: state.by },
        `the deployment writes a format that ${servers} cannot read, or has SVC_STORAGE_FORMAT=3, which changes nothing any more: upgrade or stop older servers`,
      );
    } else
      log.info(
        { event: 'format-switched' },
        'records may be written in format 4: all servers of the deployment read it',
      );
  };
  // A server that shares its records with none needs no second look.
  const waitMs = stores.shared ? registryTimes.gone : 0;
  const openSwitch = (records: RecordStore) => new FormatSwitch({ records, members, waitMs, clock: monotonic });
  const ofOthers = openSwitch(stores.records);
  let steps: { readonly of: number; readonly format: FormatSwitch } | undefined;
  const rounds = repeated(
    registryTimes.every,
    async () => {
      const hold = lease.hold();
      if (hold === undefined) return tell(await ofOthers.look());
      // What this server knew in an earlier term may be of another day.
      if (steps?.of !== hold.generation) {
        steps = { of: hold.generation, format: openSwitch(fencedRecords(stores.records, hold)) };
      }
      return tell(await steps.format.step());
    },
    (error) => {
      // The server says by itself that a store is away, and not at each round.
      if (!isStoreUnavailable(error) && !isStoreError(error, 'lease-lost')) {
        log.warn({ err: error }, 'the format of the records could not be looked at; the next round tries again');
      }
    },
  );
  void rounds.now();
  return { stop: () => rounds.stop(1_000) };
}
