import type { ServerProcess } from '../administration/services.ts';
import type { Diagnostics } from '../administration/diagnostics.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import { createDiagnostics } from '../diagnostics/diagnostics.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

/** The measurements of this server, for the admin API of a thread. */
export function openDiagnostics(
  { stores, serverId, startedAt }: ThreadOptions,
  { records, objects, blobs }: Services,
  known: {
    readonly endpoint: string;
    readonly live: () => readonly ServerFacts[];
    readonly process: Pick<ServerProcess, 'profile'>;
  },
): Diagnostics {
  return createDiagnostics({
    records,
    objects,
    space: () => blobs.space(),
    folder: stores.folder === undefined ? undefined : stores.place,
    bodies: stores.blobs.kind === 'files' ? stores.blobs.folder : undefined,
    own: () => ({ id: serverId, endpoint: known.endpoint, startedAt }),
    live: known.live,
    soleSince: stores.records.kind === 'lmdb' ? startedAt : undefined,
    profile: (kinds, durationMs) => known.process.profile(kinds, durationMs),
  });
}
