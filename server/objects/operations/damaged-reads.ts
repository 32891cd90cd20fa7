import type { Chunks } from '../../streams/chunks.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ObjectInfo, ReadableObject } from '../contract/object-layer.ts';
import { isDamagedBlob } from '../../store/blob-store.ts';
import { isStoreError } from '../../store/store-error.ts';
import { quarantineRead, releaseRead } from './quarantine.ts';

export function isDamage(error: unknown): error is Error {
  return isStoreError(error, 'damaged-body') || isDamagedBlob(error);
}

/**
 * Reads a range again, over new connections, in which a read has found damage, and quarantines the object if it is damaged again. One flipped
 * bit of one answer is a fault of the way, which must not take the object away from all clients.
 */
export async function settleDamage(
  context: ObjectContext,
  info: ObjectInfo,
  range: { readonly start: number; readonly end: number },
  open: () => Promise<ReadableObject>,
  error: Error,
): Promise<void> {
  const { bucket, key, versionId } = info;
  const event = { bucket, key, versionId, what: error.message };
  try {
    const again = await damageOf(context, open, range);
    if (again === undefined) {
      context.onDamage({ ...event, kind: 'read-again' });
    } else if (await quarantineRead(context, info, { found: context.clock(), what: again.message })) {
      context.onDamage({ ...event, kind: 'quarantined' });
    }
  } catch {
    // The read has failed with its own error. The next read or the scrub finds the damage again.
  }
}

/** Has a quarantined object that a client asks for read again, and releases it if all its bytes are whole. It never rejects. */
export function checkQuarantined(
  context: ObjectContext,
  info: ObjectInfo,
  open: () => Promise<ReadableObject>,
): Promise<void> {
  const { bucket, key, versionId, size } = info;
  return context.quarantineChecks.run(JSON.stringify([bucket, key, versionId]), context.clock(), async () => {
    if ((await damageOf(context, open, { start: 0, end: size })) !== undefined) return;
    if (!(await releaseRead(context, info))) return;
    context.onDamage({ bucket, key, versionId, kind: 'released', what: info.damage?.what ?? '' });
  });
}

/** Reads a range over new connections. Returns the damage, and throws any other error. */
async function damageOf(
  { blobs }: Pick<ObjectContext, 'blobs'>,
  open: () => Promise<ReadableObject>,
  range: { readonly start: number; readonly end: number },
): Promise<Error | undefined> {
  await blobs.renew?.();
  try {
    const { read } = await open();
    const body = read(range);
    if (!Buffer.isBuffer(body)) await drain(body);
    return undefined;
  } catch (error) {
    if (isDamage(error)) return error;
    throw error;
  }
}

async function drain(chunks: Chunks): Promise<void> {
  try {
    while ((await chunks.next()) !== undefined);
  } finally {
    await chunks.close();
  }
}
