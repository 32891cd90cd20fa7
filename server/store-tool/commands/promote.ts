import { randomBytes } from 'node:crypto';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { promote } from '../../store/checkpoint.ts';
import { readUnpromoted, unpromotedText } from '../../store/promotion.ts';
import { callServer, type ServerOptions } from '../admin-call.ts';
import { openNamedStores } from '../open-stores.ts';
import { type Io, Report } from '../report.ts';

export type PromoteArguments = Partial<ServerOptions> & { readonly json?: boolean };

/** Lets a restored store go on for its deployment. Returns 0, also where it did already. */
export async function promoteCommand(store: string | undefined, options: PromoteArguments, io: Io): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const { server } = options;
  if ((server === undefined) === (store === undefined)) {
    throw new ProgramError('usage', 'promote takes a data folder or a file of settings, or --server URL');
  }
  if (server !== undefined) {
    const call = { method: 'POST', path: 'promote' } as const;
    const { promoted } = (await callServer({ ...options, server }, io.env, call, io.signal)) as { promoted?: string };
    return told(report, server, promoted);
  }
  const stores = await openNamedStores(store, io.env, {}, { mayBeServed: true });
  try {
    const { records, marker, description } = stores;
    const unpromoted = await readUnpromoted(records);
    if (unpromoted !== undefined) await promote({ records, marker }, randomBytes);
    return told(report, description, unpromoted && unpromotedText(unpromoted));
  } finally {
    await stores.close();
  }
}

function told(report: Report, where: string, promoted: string | undefined): number {
  const text = promoted === undefined ? 'nothing to promote' : `promoted (${promoted})`;
  report.line(`${where}: ${text}`, { type: 'promoted', changed: promoted !== undefined });
  if (promoted !== undefined) {
    report.note('Do not start another store of the same deployment again: both would act for it.');
  }
  return 0;
}
