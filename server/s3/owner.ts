import { ownerId, ownerName } from '../../protocol/s3/acl.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { accountId } from '../auth/principal.ts';
import { element, type Xml } from '../../protocol/s3/xml-writer.ts';

/**
 * Checks the owner that a request expects: the ID in listings, or the account of GetCallerIdentity.
 *
 * @throws S3Error AccessDenied for any other owner, InvalidBucketOwnerAWSAccountID for what is not an account
 */
export function checkOwner(expected: string): void {
  if (!/^(?:[0-9]{12}|[0-9a-f]{64})$/.test(expected)) throw new S3Error('InvalidBucketOwnerAWSAccountID');
  if (expected !== ownerId && expected !== accountId) {
    throw new S3Error('AccessDenied', 'The bucket does not belong to the owner that the request expects.');
  }
}

/**
 * Checks the account of a request of S3 Control.
 *
 * @throws S3Error AccessDenied for any other account
 */
export function checkAccount(id: string): void {
  if (id !== accountId) throw new S3Error('AccessDenied', `The account of this store is ${accountId}.`);
}

/** Writes an owner by its canonical ID. Only the owner of the buckets has a name to show. */
export function owner(elementName: 'Owner' | 'Initiator', id: string = ownerId): Xml {
  return element(elementName, [element('ID', id), id === ownerId ? element('DisplayName', ownerName) : undefined]);
}
