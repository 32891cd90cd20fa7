import type { Context } from '../../context.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import type { Entry } from '../entries/entry.ts';
import { keptAttributes } from './copy-one.ts';
import { differsByDigest, hasBytesOf, hasDigestOfFile } from './digests-of-entries.ts';
import type { FoundSource } from './find-sources.ts';
import { clockStepMs } from './source-state.ts';

/** Why a target is not the copy of its source. The last two come from times alone. */
export type Change =
  'has another size' | 'has other bytes' | 'is older than its source' | 'may be older than its source';

/**
 * Milliseconds. A server dates an object before it is stored, and by a clock of its own: a copy that is at most so much newer may have been made of
 * the object before.
 */
const settlingMs = 5_000;

/**
 * Compares size, ETags where both are digests of the bytes, and time. A copy is newer than its source, except where it got the time of the
 * file from which the object was made. Undefined for a copy that is as its source.
 */
export async function changeOf(
  context: Context,
  found: FoundSource,
  source: Entry,
  target: Entry,
  { preserve, encryption }: { readonly preserve: boolean; readonly encryption: EncryptionRules },
): Promise<Change | undefined> {
  if (source.size !== target.size) return 'has another size';
  if (await differsByDigest(context, source, target, encryption)) return 'has other bytes';
  // The time of a file that is dated in the future tells nothing: its bytes do, where the ETag is their digest.
  if (source.bucket === '' && source.modified.getTime() > Date.now()) {
    if (await hasDigestOfFile(source.key, target.etag)) return undefined;
  }
  // A copy begins a step of the clock after the last change of its file. Some servers tell whole seconds: what changed in the second of its copy
  // is copied once more.
  const step = source.bucket === '' ? clockStepMs : source.modified.getMilliseconds() === 0 ? 999 : 0;
  const age = target.modified.getTime() - source.modified.getTime();
  if (age >= step) return age >= step + settlingMs ? undefined : changeByBytes(context, source, target, encryption);
  const kept = preserve && target.bucket === '' ? await keptAttributes(context, found, encryption) : {};
  const isKept = kept.mtime !== undefined && Math.abs(kept.mtime * 1_000 - target.modified.getTime()) < 1_000;
  return isKept ? undefined : 'is older than its source';
}

/** Compares a source with a copy that is hardly newer: it may have changed while it was sent. */
async function changeByBytes(
  context: Context,
  source: Entry,
  target: Entry,
  encryption: EncryptionRules,
): Promise<Change | undefined> {
  // A copy of a file on this machine has the time at which it began, by the same clock.
  if (source.bucket === '' && target.bucket === '') return undefined;
  if (source.bucket !== '' && source.etag === target.etag) return undefined;
  if (source.bucket !== '' && target.bucket !== '') return 'may be older than its source';
  const [file, object] = source.bucket === '' ? [source, target] : [target, source];
  const isSame = await hasBytesOf(context, file.key, object, encryption);
  if (isSame === undefined) return 'may be older than its source';
  return isSame ? undefined : 'has other bytes';
}
