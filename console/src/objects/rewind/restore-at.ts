import { listVersions, restoreVersion, type VersionRow } from '../../api/versions.ts';
import { currentAt } from './current-at.ts';

export interface Restored {
  readonly restored: number;
  /** Objects that are still as they were. */
  readonly unchanged: number;
  readonly failed: number;
  /** The first failures. */
  readonly failures: readonly { readonly key: string; readonly message: string }[];
}

export const nothingRestored: Restored = { restored: 0, unchanged: 0, failed: 0, failures: [] };

interface RestoreOptions {
  readonly bucket: string;
  readonly versions: readonly VersionRow[];
  /** Prefixes with everything below them. */
  readonly folders: readonly string[];
  /** Milliseconds since 1970. */
  readonly moment: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: Restored) => void;
}

const concurrency = 4;
const failuresShown = 10;

/** Makes the versions of a moment the current ones, by copies. Objects that came later stay. Ends early at the signal. */
export async function restoreAt(options: RestoreOptions): Promise<Restored> {
  const { bucket, signal, onProgress } = options;
  let done = nothingRestored;

  async function restore(version: VersionRow): Promise<void> {
    if (signal.aborted) return;
    const outcome = version.isLatest ? 'unchanged' : await tryRestore(bucket, version);
    done = counted(done, version.key, outcome);
    onProgress(done);
  }

  for await (const versions of pagesOf(options)) {
    if (signal.aborted) break;
    const rest = [...versions];
    const lanes = Array.from({ length: concurrency }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await restore(next);
    });
    await Promise.all(lanes);
  }
  return done;
}

async function* pagesOf({ bucket, versions, folders, moment, signal }: RestoreOptions) {
  yield versions;
  for (const prefix of folders) {
    let decided: string | undefined;
    for (let cursor: string | undefined = ''; cursor !== undefined && !signal.aborted;) {
      const page = await listVersions(bucket, { prefix, delimiter: '', cursor, signal });
      const found = currentAt(page.versions, moment, decided);
      yield found.versions;
      decided = found.decided;
      cursor = page.next;
    }
  }
}

async function tryRestore(bucket: string, version: VersionRow): Promise<'restored' | Error> {
  try {
    await restoreVersion(bucket, version);
    return 'restored';
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function counted(done: Restored, key: string, outcome: 'restored' | 'unchanged' | Error): Restored {
  if (outcome === 'restored') return { ...done, restored: done.restored + 1 };
  if (outcome === 'unchanged') return { ...done, unchanged: done.unchanged + 1 };
  const failures = [...done.failures, { key, message: outcome.message }].slice(0, failuresShown);
  return { ...done, failed: done.failed + 1, failures };
}
