import { readEditable } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { isSame } from '../text/element-form.ts';
import { t } from '../texts/texts.ts';
import { s3, unlessAbsent } from './s3.ts';

interface Subresource {
  /** For example `lifecycle`. */
  readonly name: string;
  /** The code of the error of a bucket that has none; undefined where each bucket has one. */
  readonly absent?: string;
}

/** The subresources of a bucket that forms edit. */
export const subresources = {
  cors: { name: 'cors', absent: 'NoSuchCORSConfiguration' },
  lifecycle: { name: 'lifecycle', absent: 'NoSuchLifecycleConfiguration' },
  logging: { name: 'logging' },
  notification: { name: 'notification' },
  objectLock: { name: 'object-lock', absent: 'ObjectLockConfigurationNotFoundError' },
  publicAccessBlock: { name: 'publicAccessBlock', absent: 'NoSuchPublicAccessBlockConfiguration' },
  replication: { name: 'replication', absent: 'ReplicationConfigurationNotFoundError' },
  versioning: { name: 'versioning' },
  website: { name: 'website', absent: 'NoSuchWebsiteConfiguration' },
} as const satisfies Readonly<Record<string, Subresource>>;

/** A configuration document of a bucket, whole, with the headers of the answer. */
interface Configuration {
  readonly root: XmlNode;
  readonly headers: Headers;
}

/**
 * Reads a document; undefined if the bucket has none. The reader is that of the server: the one of the browser refuses control characters,
 * and shows a part of the document then.
 */
export async function configuration(bucket: string, { name, absent }: Subresource): Promise<Configuration | undefined> {
  const answer = s3('GET', bucket, { query: { [name]: '' } });
  const found = await (absent === undefined ? answer : unlessAbsent([absent], answer));
  return found && { root: readEditable(await found.text()), headers: found.headers };
}

/**
 * Writes what a function makes of the document right before the write; undefined removes the document. The server refuses the write where the
 * document is another one by then.
 *
 * @param headers - headers of the write
 */
export async function editConfiguration(
  bucket: string,
  subresource: Subresource,
  change: (now: XmlNode | undefined) => string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const found = await configuration(bucket, subresource);
  const body = change(found?.root);
  const query = { [subresource.name]: '' };
  const conditions = conditionsOn(found?.headers);
  await unlessChanged(
    body === undefined
      ? s3('DELETE', bucket, { query, headers: conditions })
      : s3('PUT', bucket, { query, headers: { ...headers, ...conditions }, body }),
  );
}

/** The headers of a write that expects what a read answered; undefined where it answered that there is nothing. */
export function conditionsOn(read: Headers | undefined): Readonly<Record<string, string>> {
  if (read === undefined) return { 'if-none-match': '*' };
  const tag = read.get('etag');
  return tag === null ? {} : { 'if-match': tag };
}

/** Says in words what the refusal of a condition means. */
export async function unlessChanged(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'PreconditionFailed') throw changedMeanwhile();
    throw error;
  }
}

/** Throws where another administrator has changed what a form was filled with. */
export function expectSame(now: unknown, shown: unknown): void {
  if (!isSame(now, shown)) throw changedMeanwhile();
}

function changedMeanwhile(): Error {
  return new Error(t.bucketSettings.theSettingWasChangedMeanwhile);
}
