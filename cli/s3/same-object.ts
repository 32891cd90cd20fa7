import { ProgramError } from '../../platform/errors/program-error.ts';
import type { S3Client } from './client.ts';
import { isNotFound } from './error-of-status.ts';
import { headObject, type ObjectHeaders } from './objects.ts';

/** A key at one address of a server. */
interface AddressedKey {
  readonly client: S3Client;
  /** The form for messages. */
  readonly display: string;
  /** The key of an object under SSE-C. */
  readonly headers: ObjectHeaders;
}

/**
 * Reports whether one key of a bucket is the same object at two addresses, as far as a client can tell. Two addresses may lead to one server:
 * a name and an IP address, http and https, a load balancer and a node. A copy on another server has a time of its own.
 *
 * @throws ProgramError Unsafe if one of them cannot be asked
 */
export async function looksLikeSameObject(
  one: AddressedKey,
  other: AddressedKey,
  { bucket, key }: { readonly bucket: string; readonly key: string },
): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map(async ({ client, headers }) =>
      headObject(client, { bucket, key }, { headers }).catch((cause: unknown) => {
        if (isNotFound(cause)) return undefined;
        const text = `Unable to tell whether \`${one.display}\` and \`${other.display}\` are one object`;
        throw new ProgramError('Unsafe', text, { cause });
      }),
    ),
  );
  return (
    first !== undefined &&
    second !== undefined &&
    first.etag === second.etag &&
    first.size === second.size &&
    first.lastModified.getTime() === second.lastModified.getTime() &&
    first.headers['x-amz-version-id'] === second.headers['x-amz-version-id']
  );
}
