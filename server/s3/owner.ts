import { S3Error } from '../../protocol/s3/s3-error.ts';
import { accountId } from '../auth/principal.ts';
import { element, type Xml } from '../../protocol/s3/xml-writer.ts';

/** Everything belongs to the one account of this store; the ID is 64 hexadecimal digits, as clients expect. */
export const ownerId = 'c0ffe2'.padEnd(64, '0');
export const ownerName = 'coffer';

/**
 * Of a request that names the owner whom it expects: the ID that listings show, or the account that GetCallerIdentity shows.
 *
 * @throws S3Error AccessDenied for any other
 */
export function checkOwner(expected: string): void {
  if (expected !== ownerId && expected !== accountId) {
    throw new S3Error('AccessDenied', 'The bucket does not belong to the owner that the request expects.');
  }
}

export function owner(elementName: 'Owner' | 'Initiator'): Xml {
  return element(elementName, [element('ID', ownerId), element('DisplayName', ownerName)]);
}
