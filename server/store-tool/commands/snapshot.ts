import { counted } from '../../../platform/text/message-text.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { resolve } from 'node:path';
import { checkRestoreTarget, restoreSnapshot, takeSnapshot, type SnapshotSummary } from '../../maintenance/snapshot.ts';
import { callServer, type ServerOptions } from '../admin-call.ts';
import { openNamedStores, type OpenedStores } from '../open-stores.ts';
import { type Io, Report } from '../report.ts';
import { compareOpened, conclude, reported, verifyOpened } from './verify.ts';

export type SnapshotArguments = Partial<ServerOptions> & { readonly json?: boolean };

/** Returns 0, or 1 if blobs are missing that records refer to. */
export async function snapshotCommand(paths: readonly string[], options: SnapshotArguments, io: Io): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const { server } = options;
  if (server !== undefined) {
    const [name, ...more] = paths;
    if (name === undefined || more.length > 0) {
      throw new ProgramError(
        'usage',
        'snapshot --server URL takes one argument: the name of the snapshot on the server',
      );
    }
    const query = { name };
    const answer = await callServer(
      { ...options, server },
      io.env,
      { method: 'POST', path: 'snapshot', query },
      io.signal,
    );
    const { path, ...summary } = answer as SnapshotSummary & { readonly path: string };
    return taken(report, `${path} on the server`, summary);
  }
  const [folder, out, ...more] = paths;
  if (folder === undefined || out === undefined || more.length > 0) {
    throw new ProgramError('usage', 'snapshot takes a data folder and the folder to make, or --server URL and a name');
  }
  const stores = await openNamedStores(folder, io.env, {}, { reads: true });
  try {
    const [data] = stores.places.dataFolders;
    if (data === undefined || stores.places.blobs.kind !== 'files') {
      throw new ProgramError(
        'failed',
        'only data folders have snapshots: back a database and a bucket up by their own means, or use coffer-store copy',
      );
    }
    await refuseMismatch(stores, report);
    const { records } = stores;
    const exclusive = stores.locked;
    const summary = await takeSnapshot({ records, folder: data, out: resolve(out), exclusive, signal: io.signal });
    return taken(report, resolve(out), summary);
  } finally {
    await stores.close();
  }
}

/** Refuses stores whose parts do not belong together: a snapshot of them would look like a good one. */
async function refuseMismatch(stores: OpenedStores, report: Report): Promise<void> {
  let found = 0;
  for await (const issue of compareOpened(stores)) {
    found += 1;
    report.issue(issue);
  }
  if (found > 0) throw new ProgramError('failed', 'no snapshot was taken: records and bodies do not belong together');
}

function taken(report: Report, path: string, summary: SnapshotSummary): number {
  const { blobs, missing } = summary;
  const missed = `; ${counted(missing, 'blob is', 'blobs are')} missing: run coffer-store verify`;
  const text = `${path}: a snapshot of the records and ${counted(blobs, 'blob')}${missing === 0 ? '' : missed}`;
  report.line(text, { type: 'snapshot', path, ...summary });
  return missing === 0 ? 0 : 1;
}

/** Returns 0 if the snapshot is complete and restored, and 1 if it is damaged. A damaged one is restored only with `--damaged`. */
export async function restoreCommand(
  snapshot: string,
  folder: string,
  options: { readonly json?: boolean; readonly damaged?: boolean },
  io: Io,
): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  // Before a byte is read: the verification may take hours.
  await checkRestoreTarget(snapshot, folder);
  const stores = await openNamedStores(snapshot, io.env, {}, { reads: true });
  let code: number;
  try {
    const { records, blobs } = stores;
    const verification = verifyOpened(stores, {
      records,
      blobs,
      now: Date.now(),
      bodies: true,
      signal: io.signal,
      onProgress: ({ objects, bytes }) => report.progress({ what: 'verified', objects, bytes }),
    });
    const { summary, losses, unread } = await reported(verification, report);
    code = conclude(report, resolve(snapshot), summary, losses, unread);
    if (losses + unread > 0 && options.damaged !== true) {
      report.note(
        losses > 0
          ? 'Nothing was restored. Add --damaged to restore the rest: damaged objects will not be served.'
          : 'Nothing was restored. Give this user the right to read all bodies, or check the disk, and restore again.',
      );
      return code;
    }
    await restoreSnapshot(snapshot, folder, io.signal);
  } finally {
    report.wipe();
    await stores.close();
  }
  report.line(`${resolve(folder)}: restored`, { type: 'restored', folder: resolve(folder) });
  report.note(
    `It leaves tiers, replication, events and sites alone, and removes nothing, until "coffer-store promote ${folder}" says that it goes on in place of the original.`,
  );
  return code;
}
