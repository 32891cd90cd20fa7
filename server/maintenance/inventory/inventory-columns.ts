import type { InventoryConfiguration, InventoryField } from '../../../protocol/s3/bucket-inventory.ts';
import { type Acl, type AclGroup, aclGroups, ownerId, resolveAcl } from '../../../protocol/s3/acl.ts';
import type { ListedVersion } from '../../objects/contract/listings.ts';

/** A value of a row; a Date for a time. Undefined where the version has none. */
export type InventoryValue = string | number | boolean | Date | undefined;

/** A column of a report. */
export interface InventoryColumn {
  /** The name in the schema of a CSV file. */
  readonly name: string;
  readonly parquetName: string;
  readonly type: 'text' | 'integer' | 'boolean' | 'time';
  /** True where each row has a value. */
  readonly required: boolean;
  readonly read: (version: ListedVersion) => InventoryValue;
}

/**
 * Returns the columns of a report, in AWS's order. Columns about versions are in reports about all versions alone. An ETag that is sealed
 * in its record, as the MD5 of an object with SSE-S3, is only in a report that is encrypted itself.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory.html
 */
export function columnsOf(
  bucket: string,
  { versions, fields }: InventoryConfiguration,
  { isEncrypted }: { readonly isEncrypted: boolean },
): readonly InventoryColumn[] {
  const columns = isEncrypted ? fieldColumns : fieldColumns.map(withoutDigests);
  return [
    column('Bucket', 'bucket', 'text', () => bucket, true),
    column('Key', 'key', 'text', ({ key }) => key, true),
    ...(versions === 'All' ? versionColumns : []),
    ...columns.filter(({ name }) => fields.some((field) => field === name)),
  ];
}

function column<Name extends string>(
  name: Name,
  parquetName: string,
  type: InventoryColumn['type'],
  read: InventoryColumn['read'],
  required = false,
): InventoryColumn & { readonly name: Name } {
  return { name, parquetName, type, required, read };
}

const versionColumns = [
  // AWS shows the null version as an empty text.
  column('VersionId', 'version_id', 'text', ({ versionId }) => (versionId === 'null' ? undefined : versionId)),
  column('IsLatest', 'is_latest', 'boolean', ({ isLatest }) => isLatest),
  column('IsDeleteMarker', 'is_delete_marker', 'boolean', ({ deleteMarker }) => deleteMarker),
];

/** A column about an object, which a delete marker does not have. */
function field(
  name: InventoryField,
  parquetName: string,
  type: InventoryColumn['type'],
  read: InventoryColumn['read'],
): InventoryColumn & { readonly name: InventoryField } {
  return column(name, parquetName, type, (version) => (version.deleteMarker ? undefined : read(version)));
}

const fieldColumns: readonly (InventoryColumn & { readonly name: InventoryField })[] = [
  field('Size', 'size', 'integer', ({ size }) => size),
  column('LastModifiedDate', 'last_modified_date', 'time', ({ modified }) => new Date(modified)),
  field('ETag', 'e_tag', 'text', ({ etag }) => etag),
  field('StorageClass', 'storage_class', 'text', ({ storageClass }) => storageClass ?? 'STANDARD'),
  field('IsMultipartUploaded', 'is_multipart_uploaded', 'boolean', ({ etag }) => /-\d+$/.test(etag)),
  // There is neither a replication nor a tiering whose state these columns could show.
  field('ReplicationStatus', 'replication_status', 'text', () => undefined),
  field('EncryptionStatus', 'encryption_status', 'text', ({ details }) => details?.scheme ?? 'NOT-SSE'),
  field(
    'ObjectLockRetainUntilDate',
    'object_lock_retain_until_date',
    'time',
    ({ details }) => details?.lock?.retention?.until,
  ),
  field('ObjectLockMode', 'object_lock_mode', 'text', ({ details }) => details?.lock?.retention?.mode),
  field('ObjectLockLegalHoldStatus', 'object_lock_legal_hold_status', 'text', ({ details }) =>
    details?.lock?.legalHold === true ? 'On' : 'Off',
  ),
  field('IntelligentTieringAccessTier', 'intelligent_tiering_access_tier', 'text', () => undefined),
  field('BucketKeyStatus', 'bucket_key_status', 'text', ({ details }) =>
    details?.bucketKey === true ? 'ENABLED' : 'DISABLED',
  ),
  field('ChecksumAlgorithm', 'checksum_algorithm', 'text', ({ checksum }) => checksum?.algorithm),
  field('ObjectAccessControlList', 'object_access_control_list', 'text', ({ details }) => aclText(details?.acl)),
  field('ObjectOwner', 'object_owner', 'text', ({ details }) => details?.acl?.owner ?? ownerId),
];

function withoutDigests(given: (typeof fieldColumns)[number]): (typeof fieldColumns)[number] {
  if (given.name !== 'ETag') return given;
  return { ...given, read: (version) => (version.details?.hasSealedEtag === true ? undefined : given.read(version)) };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/objectacl.html */
function aclText(acl: Acl = privateAcl): string {
  const grants = acl.grants.map(({ grantee, permission }) =>
    grantee in aclGroups
      ? { uri: aclGroups[grantee as AclGroup], type: 'Group', permission }
      : { canonicalId: grantee, type: 'CanonicalUser', permission },
  );
  return Buffer.from(JSON.stringify({ version: '2022-11-10', status: 'AVAILABLE', grants })).toString('base64');
}

const privateAcl = resolveAcl(undefined, ownerId);
