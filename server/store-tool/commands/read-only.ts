import { setTimeout as sleep } from 'node:timers/promises';
import { readOnlyKnownMs, setReadOnly } from '../../store/commits.ts';
import { callServer, type ServerOptions } from '../admin-call.ts';
import { openNamedStores } from '../open-stores.ts';
import { type Io, Report } from '../report.ts';

/** After this many milliseconds every server obeys. Those that refuse changes have then ended their earlier requests too. */
const delays = { on: 5_000, off: 1.5 * readOnlyKnownMs } as const;

export async function readOnlyCommand(
  mode: 'on' | 'off',
  store: string | undefined,
  options: Partial<ServerOptions> & { readonly json?: boolean },
  io: Io,
): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const { server } = options;
  if (server === undefined) {
    const stores = await openNamedStores(store, io.env);
    try {
      await setReadOnly(stores.records, mode === 'on');
      if (!stores.locked) await sleep(delays[mode], undefined, { signal: io.signal });
    } finally {
      await stores.close();
    }
  } else {
    const query = { mode };
    await callServer({ ...options, server }, io.env, { method: 'POST', path: 'read-only', query }, io.signal);
    await sleep(delays[mode], undefined, { signal: io.signal });
  }
  const text = mode === 'on' ? 'The store is read-only: servers refuse changes.' : 'The store takes changes again.';
  report.line(text, { type: 'read-only', mode });
  return 0;
}
