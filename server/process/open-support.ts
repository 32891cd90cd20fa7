import type { ServerProcess } from '../administration/services.ts';
import type { Support } from '../administration/support.ts';
import type { ReplicaFacts } from '../replicas/replica-registry.ts';
import { createSupport } from '../support/support.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

/** The measurements of this server, for the admin API of a thread. */
export function openSupport(
  { stores, replica, startedAt }: ThreadOptions,
  { records, objects, blobs }: Services,
  known: {
    readonly endpoint: string;
    readonly live: () => readonly ReplicaFacts[];
    readonly process: Pick<ServerProcess, 'profile'>;
  },
): Support {
  return createSupport({
    records,
    objects,
    space: () => blobs.space(),
    folder: stores.folder === undefined ? undefined : stores.place,
    bodies: stores.blobs.kind === 'files' ? stores.blobs.folder : undefined,
    own: () => ({ id: replica, endpoint: known.endpoint, startedAt }),
    live: known.live,
    soleSince: stores.records.kind === 'lmdb' ? startedAt : undefined,
    profile: (kinds, durationMs) => known.process.profile(kinds, durationMs),
  });
}
