import { randomBytes } from 'node:crypto';
import { promote } from '../../store/checkpoint.ts';
import { readUnpromoted, unpromotedText } from '../../store/promotion.ts';
import { openNamedStores } from '../open-stores.ts';
import { type Io, Report } from '../report.ts';

/** Lets a restored store go on for its deployment. Returns 0, also where it did already. */
export async function promoteCommand(store: string, options: { readonly json?: boolean }, io: Io): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const stores = await openNamedStores(store, io.env, {}, { mayBeServed: true });
  try {
    const { records, marker, description } = stores;
    const unpromoted = await readUnpromoted(records);
    if (unpromoted === undefined) {
      report.line(`${description}: nothing to promote`, { type: 'promoted', changed: false });
      return 0;
    }
    await promote({ records, marker }, randomBytes);
    report.line(`${description}: promoted (${unpromotedText(unpromoted)})`, { type: 'promoted', changed: true });
    report.note('Do not start another store of the same deployment again: both would act for it.');
    return 0;
  } finally {
    await stores.close();
  }
}
