import type { IncomingHttpHeaders } from 'node:http';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import type { S3Client } from './client.ts';
import { xmlBody } from './xml-body.ts';

/** A setting of a bucket that S3 reads and writes as a whole document. */
export interface BucketSetting {
  /** The subresource, for example `lifecycle`. */
  readonly name: string;
  /** The code of the error that says that the setting is absent. */
  readonly absent?: string;
  /** The header of the answer that belongs to the document and goes back with it. */
  readonly header?: string;
}

interface StoredSetting {
  /** Undefined for an absent setting. */
  readonly document: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Coffer answers it, also for an absent setting. */
  readonly etag: string | undefined;
}

/** A refused write changed nothing. With 5, a command would have to lose the race against five other changes. */
const maxAttempts = 5;

/**
 * Reads a setting, and writes what `edit` makes of it: undefined removes the setting, and the same text writes nothing. Where the server
 * answers an ETag, it refuses the write if the setting was changed meanwhile; `edit` then gets the new one. Other servers take the write.
 */
export async function editSetting(
  client: S3Client,
  bucket: string,
  setting: BucketSetting,
  edit: (document: string | undefined) => string | undefined,
): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const before = await readSetting(client, bucket, setting);
    const after = edit(before.document);
    if (after === before.document) return;
    try {
      await writeSetting(client, bucket, setting, before, after);
      return;
    } catch (error) {
      if (!(error instanceof ResponseError && error.code === 'PreconditionFailed')) throw error;
    }
  }
  throw new ProgramError(
    'Failed',
    `The ${setting.name} setting of \`${bucket}\` was changed by others ${maxAttempts} times meanwhile, so that nothing was changed; try again`,
  );
}

async function readSetting(client: S3Client, bucket: string, { name, absent }: BucketSetting): Promise<StoredSetting> {
  try {
    const { text, headers } = await client.text({ method: 'GET', bucket, query: { [name]: '' } });
    return { document: text, headers, etag: headers.etag };
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code !== absent) throw error;
    return { document: undefined, headers: {}, etag: error.fields['etag'] };
  }
}

async function writeSetting(
  client: S3Client,
  bucket: string,
  { name, header }: BucketSetting,
  { headers: read, etag }: StoredSetting,
  document: string | undefined,
): Promise<void> {
  const query = { [name]: '' };
  const condition: Readonly<Record<string, string>> = etag === undefined ? {} : { 'if-match': etag };
  if (document === undefined) {
    await client.text({ method: 'DELETE', bucket, query, headers: condition });
    return;
  }
  const kept = header === undefined ? undefined : read[header];
  const { body, headers } = xmlBody(document);
  await client.text({
    method: 'PUT',
    bucket,
    query,
    body,
    headers: { ...headers, ...condition, ...(typeof kept === 'string' && header !== undefined && { [header]: kept }) },
  });
}
