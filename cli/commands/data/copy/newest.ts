import type { RemoteTarget, Target } from '../../../config/target.ts';
import { headObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import type { Context } from '../../context.ts';
import type { FoundSource } from './find-sources.ts';

/** The metadata in which a copy keeps the time of its source, also for other clients. */
const sourceTimeHeader = 'x-amz-meta-mm-source-mtime';

/** The properties that decide between two objects of the same key on two servers. */
interface Standing {
  /** When the object was made on the server where it was made first, in whole seconds: a HEAD has no more. */
  readonly seconds: number;
  readonly isCopy: boolean;
  readonly etag: string;
}

/**
 * Reports whether the first object replaces the second one. The answer is true in at most one direction, so that two servers which mirror to
 * each other end with the same object, and no object is copied back.
 */
export function isNewest(first: Standing, second: Standing): boolean {
  if (first.seconds !== second.seconds) return first.seconds > second.seconds;
  // The time of a copy is that of its source, which was replaced within the same second.
  if (first.isCopy !== second.isCopy) return second.isCopy;
  return !first.isCopy && first.etag > second.etag;
}

/**
 * Returns the source with the time that its copy keeps, or undefined if the object of the target stays.
 *
 * @throws ResponseError
 */
export async function withSourceTime(
  context: Context,
  source: FoundSource,
  target: Target,
): Promise<FoundSource | undefined> {
  if (source.kind !== 'object' || target.kind === 'local') return source;
  const [first, second] = await Promise.all([
    standingOf(context, source.target, source.key),
    standingOf(context, target, `${target.key}${source.name}`),
  ]);
  if (first === undefined || (second !== undefined && !isNewest(first, second))) return undefined;
  const time = new Date(first.seconds * 1_000).toISOString();
  return { ...source, metadata: { [sourceTimeHeader]: time } };
}

/** Undefined if there is no such object. */
async function standingOf(
  context: Context,
  { alias, bucket }: RemoteTarget,
  key: string,
): Promise<Standing | undefined> {
  try {
    const { etag, lastModified, headers } = await headObject(await context.client(alias), { bucket, key });
    const kept = Date.parse(String(headers[sourceTimeHeader] ?? ''));
    const isCopy = !Number.isNaN(kept);
    return { seconds: Math.floor((isCopy ? kept : lastModified.getTime()) / 1_000), isCopy, etag };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
