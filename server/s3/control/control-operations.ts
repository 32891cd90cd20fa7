import type { IncomingRequest } from '../../http/contract/request.ts';
import type { Operation } from '../operation.ts';

/** An operation of S3 Control, and the bucket that it is about, which is empty for those of the account. */
export interface ControlOperation {
  readonly operation: Operation;
  readonly bucket: string;
}

/**
 * Returns the operation of S3 Control, an API of its own, that a request with the header `x-amz-account-id` asks for; undefined for one of a
 * bucket. A bucket `v20180820` has no virtual host of an account, and its requests do not have the header.
 */
export async function controlOperation({ rawPath, method }: IncomingRequest): Promise<ControlOperation | undefined> {
  if (rawPath === '/v20180820/configuration/publicAccessBlock') {
    const { accountOperation } = await import('./account-public-access-block.ts');
    return { operation: accountOperation(method), bucket: '' };
  }
  const tags = '/v20180820/tags/';
  if (!rawPath.startsWith(tags)) return undefined;
  const { tagsOperation } = await import('./resource-tags.ts');
  return tagsOperation(method, rawPath.slice(tags.length));
}
