import type { HeldLock } from '../administration/diagnostics.ts';
import { readLeases } from '../cluster/background-lease.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { ExclusiveTasks } from './exclusive-task.ts';

interface HeldLocksContext {
  readonly records: Pick<RecordStore, 'scan'>;
  readonly tasks: Pick<ExclusiveTasks, 'list'>;
  /** The data folder that this process locks, if there is one. */
  readonly folder: string | undefined;
  readonly own: Pick<ServerFacts, 'id' | 'endpoint' | 'startedAt'>;
  readonly live: () => readonly ServerFacts[];
  readonly clock: () => number;
}

/**
 * Returns the locks of the deployment: that of the data folder, the leases of background work, and tasks that run once at a time. Objects are
 * never locked: each commit checks what it changes.
 */
export async function readHeldLocks(context: HeldLocksContext): Promise<readonly HeldLock[]> {
  const { records, tasks, folder, own, live, clock } = context;
  const servers = [own, ...live()];
  const locks: HeldLock[] = [];
  if (folder !== undefined) {
    const { endpoint: owner, id, startedAt: since } = own;
    locks.push({ resource: folder, type: 'Write', source: 'data folder', owner, id, since, stale: false });
  }
  for (const { name, holder, since } of await readLeases(records)) {
    const server = servers.find(({ id }) => id === holder);
    const owner = server?.endpoint ?? 'a server that is gone';
    const stale = server === undefined;
    locks.push({
      resource: `lease/${name}`,
      type: 'Write',
      source: 'background work',
      owner,
      id: holder,
      since,
      stale,
    });
  }
  for (const { task, id, owner, since, until } of await tasks.list()) {
    locks.push({ resource: `task/${task}`, type: 'Write', source: task, owner, id, since, stale: until <= clock() });
  }
  return locks.toSorted((a, b) => a.since - b.since);
}
