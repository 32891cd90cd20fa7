import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../platform/errors/system-error.ts';
import { isNoRoom, StoreError } from './store-error.ts';

/** The begin of the names of the files that `probeFolder` makes. A crash may leave one. */
export const PROBE = 'probe-';

/** Writes, flushes and removes a small file in a folder. Rejects with `StoreError` if that fails: a write of the store would fail too. */
export async function probeFolder(folder: string, store: StoreError['store']): Promise<void> {
  const path = join(folder, `${PROBE}${randomUUID()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.write('x');
      await file.datasync();
    } finally {
      await file.close();
      await unlink(path);
    }
  } catch (error) {
    const code = isNoRoom(error) ? 'full' : 'unreachable';
    throw new StoreError(code, `nothing can be written for ${store}: ${errorText(error)}`, { cause: error, store });
  }
}
