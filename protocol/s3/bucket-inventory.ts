import { keyNameOf } from './bucket-encryption.ts';
import { S3Error } from './s3-error.ts';
import {
  checkChildren,
  child,
  childrenOf,
  malformed,
  readXml,
  requiredText,
  textOf,
  type XmlNode,
} from './xml-reader.ts';
import { element, xmlDocument, type Xml } from './xml-writer.ts';

/** The columns of a report that a configuration asks for, in the order of the report. */
export const inventoryFields = [
  'Size',
  'LastModifiedDate',
  'ETag',
  'StorageClass',
  'IsMultipartUploaded',
  'ReplicationStatus',
  'EncryptionStatus',
  'ObjectLockRetainUntilDate',
  'ObjectLockMode',
  'ObjectLockLegalHoldStatus',
  'IntelligentTieringAccessTier',
  'BucketKeyStatus',
  'ChecksumAlgorithm',
  'ObjectAccessControlList',
  'ObjectOwner',
] as const;
export type InventoryField = (typeof inventoryFields)[number];

/** A report about the objects of a bucket, which the server writes into another bucket. */
export interface InventoryConfiguration {
  readonly id: string;
  readonly enabled: boolean;
  /** Only keys that begin with it; absent for all. */
  readonly prefix?: string;
  readonly destination: InventoryDestination;
  readonly frequency: 'Daily' | 'Weekly';
  readonly versions: 'All' | 'Current';
  /** In the order of the document. */
  readonly fields: readonly InventoryField[];
}

interface InventoryDestination {
  readonly bucket: string;
  readonly prefix?: string;
  readonly format: 'CSV' | 'Parquet';
  readonly accountId?: string;
  /** The encryption of the report; absent for that of the bucket. */
  readonly encryption?: { readonly scheme: 'SSE-S3' } | { readonly scheme: 'SSE-KMS'; readonly keyName: string };
}

/** Bytes of the document. */
export const maxInventoryDocument = 64 * 1_024;
/** UTF-8 bytes of both prefixes. */
const maxPrefix = 512;
const bucketArn = 'arn:aws:s3:::';

/** Reports whether a configuration may have this ID. */
export function isInventoryId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(id);
}

/**
 * Reads an InventoryConfiguration. `id` is that of the request.
 *
 * @throws S3Error MalformedXML, IdMismatch, InvalidS3DestinationBucket, NotImplemented (ORC, LifecycleExpirationDate), InvalidArgument (a prefix)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketInventoryConfiguration.html
 */
export function parseInventory(body: string | Buffer, id: string): InventoryConfiguration {
  const root = readXml(body, { maxBytes: maxInventoryDocument, maxElements: 1_000, root: 'InventoryConfiguration' });
  checkChildren(root, [
    'Destination',
    'Filter',
    'Id',
    'IncludedObjectVersions',
    'IsEnabled',
    'OptionalFields',
    'Schedule',
  ]);
  const filter = child(root, 'Filter');
  if (filter !== undefined) checkChildren(filter, ['Prefix']);
  const prefix = prefixOf(filter);
  const schedule = requiredChild(root, 'Schedule');
  checkChildren(schedule, ['Frequency']);
  const configuration: InventoryConfiguration = {
    id: requiredText(root, 'Id'),
    enabled: oneOf(requiredText(root, 'IsEnabled'), 'IsEnabled', ['true', 'false']) === 'true',
    ...(prefix !== undefined && { prefix }),
    destination: destinationOf(root),
    frequency: oneOf(requiredText(schedule, 'Frequency'), 'Frequency', ['Daily', 'Weekly']),
    versions: oneOf(requiredText(root, 'IncludedObjectVersions'), 'IncludedObjectVersions', ['All', 'Current']),
    fields: fieldsOf(child(root, 'OptionalFields')),
  };
  if (configuration.id !== id) throw new S3Error('IdMismatch');
  return configuration;
}

function destinationOf(root: XmlNode): InventoryDestination {
  const outer = requiredChild(root, 'Destination');
  checkChildren(outer, ['S3BucketDestination']);
  const node = requiredChild(outer, 'S3BucketDestination');
  checkChildren(node, ['AccountId', 'Bucket', 'Encryption', 'Format', 'Prefix']);
  const format = oneOf(requiredText(node, 'Format'), 'Format', ['CSV', 'ORC', 'Parquet']);
  if (format === 'ORC') throw new S3Error('NotImplemented', 'The format ORC is not implemented: use CSV or Parquet.');
  const arn = requiredText(node, 'Bucket');
  const bucket = arn.slice(bucketArn.length);
  if (!arn.startsWith(bucketArn) || !/^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/.test(bucket)) {
    throw new S3Error('InvalidS3DestinationBucket');
  }
  const prefix = prefixOf(node);
  const accountId = textOf(node, 'AccountId');
  const encryption = encryptionOf(child(node, 'Encryption'));
  return {
    bucket,
    ...(prefix !== undefined && { prefix }),
    format,
    ...(accountId !== undefined && { accountId }),
    ...(encryption !== undefined && { encryption }),
  };
}

function encryptionOf(node: XmlNode | undefined): InventoryDestination['encryption'] {
  if (node === undefined) return undefined;
  checkChildren(node, ['SSE-KMS', 'SSE-S3']);
  const kms = child(node, 'SSE-KMS');
  if (node.children.length !== 1) throw malformed('"Encryption" has either "SSE-S3" or "SSE-KMS"');
  if (kms === undefined) return { scheme: 'SSE-S3' };
  checkChildren(kms, ['KeyId']);
  const keyName = keyNameOf(requiredText(kms, 'KeyId'));
  if (keyName === '') throw malformed('"KeyId" is empty');
  return { scheme: 'SSE-KMS', keyName };
}

function fieldsOf(node: XmlNode | undefined): readonly InventoryField[] {
  if (node === undefined) return [];
  if (childrenOf(node, 'Field').length !== node.children.length) throw malformed('"OptionalFields" has "Field" alone');
  const fields = node.children.map(({ text }) => {
    if (text === 'LifecycleExpirationDate') {
      throw new S3Error('NotImplemented', 'The field LifecycleExpirationDate is not implemented.');
    }
    return oneOf(text, 'Field', inventoryFields);
  });
  if (new Set(fields).size !== fields.length) throw malformed('"OptionalFields" has a field twice');
  return fields;
}

/** An empty prefix is that of all keys. */
function prefixOf(node: XmlNode | undefined): string | undefined {
  const prefix = node && textOf(node, 'Prefix');
  if (prefix === undefined || Buffer.byteLength(prefix) <= maxPrefix) return prefix;
  throw new S3Error('InvalidArgument', `A prefix of an inventory must not be longer than ${maxPrefix} bytes.`);
}

function requiredChild(node: XmlNode, name: string): XmlNode {
  const found = child(node, name);
  if (found === undefined) throw malformed(`"${node.name}" lacks "${name}"`);
  return found;
}

function oneOf<Name extends string>(text: string, element: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw malformed(`"${text.slice(0, 64)}" cannot be a "${element}"`);
  return found;
}

/** Writes the document that GetBucketInventoryConfiguration answers. */
export function writeInventory(configuration: InventoryConfiguration): string {
  return xmlDocument('InventoryConfiguration', contentOf(configuration));
}

/** Writes a page of configurations. `next` is the token of the page after it. */
export function writeInventories(
  page: readonly InventoryConfiguration[],
  { token, next }: { readonly token: string | undefined; readonly next: string | undefined },
): string {
  return xmlDocument('ListInventoryConfigurationsResult', [
    token === undefined ? undefined : element('ContinuationToken', token),
    ...page.map((one) => element('InventoryConfiguration', contentOf(one))),
    element('IsTruncated', next !== undefined),
    next === undefined ? undefined : element('NextContinuationToken', next),
  ]);
}

function contentOf({ id, enabled, prefix, destination, ...rest }: InventoryConfiguration): (Xml | undefined)[] {
  const { bucket, format, accountId, encryption } = destination;
  return [
    element('Id', id),
    element('IsEnabled', enabled),
    prefix === undefined ? undefined : element('Filter', [element('Prefix', prefix)]),
    element('Destination', [
      element('S3BucketDestination', [
        element('Format', format),
        accountId === undefined ? undefined : element('AccountId', accountId),
        element('Bucket', bucketArn + bucket),
        destination.prefix === undefined ? undefined : element('Prefix', destination.prefix),
        encryption &&
          element('Encryption', [
            encryption.scheme === 'SSE-S3'
              ? element('SSE-S3', [])
              : element('SSE-KMS', [element('KeyId', encryption.keyName)]),
          ]),
      ]),
    ]),
    element('Schedule', [element('Frequency', rest.frequency)]),
    element('IncludedObjectVersions', rest.versions),
    rest.fields.length === 0
      ? undefined
      : element(
          'OptionalFields',
          rest.fields.map((field) => element('Field', field)),
        ),
  ];
}

/** Returns the folder in the destination that has the reports on a bucket, without a slash at its end. */
export function inventoryFolder(
  bucket: string,
  { id, destination: { prefix = '' } }: Pick<InventoryConfiguration, 'id' | 'destination'>,
): string {
  return `${prefix}${prefix === '' || prefix.endsWith('/') ? '' : '/'}${bucket}/${id}`;
}
