import { S3Error } from '../s3-error.ts';

type Level = 'service' | 'bucket' | 'object';

/** The resource type by which AWS names a subresource in its errors and logs, and the methods that are an operation of it in AWS or MinIO. */
type SubResource = readonly [type: string, methods: string];

const ofBucket: Readonly<Record<string, SubResource>> = {
  abac: ['BUCKET_ABAC', 'GET PUT'],
  accelerate: ['ACCELERATE', 'GET PUT'],
  acl: ['ACL', 'GET PUT'],
  analytics: ['ANALYTICS', 'GET PUT DELETE'],
  cors: ['CORS', 'GET PUT DELETE'],
  delete: ['MULTI_OBJECT_DELETE', 'POST'],
  encryption: ['ENCRYPTION', 'GET PUT DELETE'],
  events: ['EVENTS', 'GET'],
  'intelligent-tiering': ['INTELLIGENT_TIERING', 'GET PUT DELETE'],
  inventory: ['INVENTORY', 'GET PUT DELETE'],
  lifecycle: ['LIFECYCLE', 'GET PUT DELETE'],
  location: ['LOCATION', 'GET'],
  logging: ['LOGGING_STATUS', 'GET PUT'],
  metadataAnnotationTable: ['BUCKET_METADATA_ANNOTATION_TABLE_CONFIGURATION', 'PUT'],
  metadataConfiguration: ['BUCKET_METADATA_CONFIGURATION', 'GET POST DELETE'],
  metadataInventoryTable: ['BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION', 'PUT'],
  metadataJournalTable: ['BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION', 'PUT'],
  metadataTable: ['BUCKET_METADATA_TABLE_CONFIGURATION', 'GET POST DELETE'],
  metrics: ['METRICS', 'GET PUT DELETE'],
  notification: ['NOTIFICATION', 'GET PUT'],
  'object-lock': ['OBJECT_LOCK_CONFIGURATION', 'GET PUT'],
  ownershipControls: ['OWNERSHIP_CONTROLS', 'GET PUT DELETE'],
  policy: ['BUCKETPOLICY', 'GET PUT DELETE'],
  policyStatus: ['POLICY_STATUS', 'GET'],
  publicAccessBlock: ['PUBLIC_ACCESS_BLOCK', 'GET PUT DELETE'],
  replication: ['REPLICATION', 'GET PUT DELETE'],
  'replication-check': ['REPLICATION_CHECK', 'GET'],
  'replication-metrics': ['REPLICATION_METRICS', 'GET'],
  'replication-reset': ['REPLICATION_RESET', 'PUT'],
  'replication-reset-cancel': ['REPLICATION_RESET_CANCEL', 'PUT'],
  'replication-reset-status': ['REPLICATION_RESET_STATUS', 'GET'],
  requestPayment: ['REQUEST_PAYMENT', 'GET PUT'],
  tagging: ['TAGGING', 'GET PUT DELETE'],
  uploads: ['UPLOADS', 'GET'],
  versioning: ['VERSIONING', 'GET PUT'],
  versions: ['BUCKETVERSIONS', 'GET'],
  website: ['WEBSITE', 'GET PUT DELETE'],
};

const ofObject: Readonly<Record<string, SubResource>> = {
  acl: ['ACL', 'GET PUT'],
  annotation: ['OBJECT_ANNOTATIONS', 'GET PUT DELETE'],
  attributes: ['OBJECT_ATTRIBUTES', 'GET'],
  encryption: ['OBJECT_ENCRYPTION', 'PUT'],
  'legal-hold': ['OBJECT_LOCK_LEGALHOLD', 'GET PUT'],
  renameObject: ['OBJECT', 'PUT'],
  restore: ['RESTORE', 'POST'],
  retention: ['OBJECT_LOCK_RETENTION', 'GET PUT'],
  select: ['SELECT', 'POST'],
  tagging: ['OBJECT_TAGGING', 'GET PUT DELETE'],
  torrent: ['TORRENT', 'GET'],
  uploadId: ['UPLOAD', 'GET PUT POST DELETE'],
  uploads: ['UPLOADS', 'POST'],
};

const types: Readonly<Record<Level, string>> = { service: 'SERVICE', bucket: 'BUCKET', object: 'OBJECT' };

/** A request for which there is no operation. */
interface UnknownOperation {
  readonly method: string;
  readonly level: Level;
  /** The subresources of the query, and `copy` for the header x-amz-copy-source. */
  readonly flags: readonly string[];
  /** The methods that this server has for the path and the subresources. */
  readonly served: readonly string[];
}

/**
 * Returns the error of AWS for a request that asks for no operation. AWS answers some subresources of a bucket also below a key, and ignores
 * others there; this server refuses all of them, so that no client takes one answer for the other.
 */
export function rejectedOperation({ method, level, flags, served }: UnknownOperation): S3Error {
  const names = flags.filter((flag) => flag !== 'copy' && flag !== 'id');
  const [name, another] = names;
  if (name === undefined) return notAllowed(method, types[level], served);
  if (another !== undefined) {
    return invalidArgument(`Conflicting query string parameters: ${names.join(', ')}`, 'ResourceType', name);
  }
  if (flags.includes('copy')) {
    return invalidArgument('You can only specify a copy source header for copy requests.', 'x-amz-copy-source');
  }
  const subResource = level === 'service' ? undefined : (level === 'bucket' ? ofBucket : ofObject)[name];
  if (subResource === undefined) return ofOtherLevel(level, name) ?? notImplemented(method, level, name);
  const [type, methods] = subResource;
  if (!methods.split(' ').includes(method)) return ofKey(level, method, name) ?? notAllowed(method, type, served);
  return name === 'inventory' ? new S3Error('InvalidConfigurationId') : notImplemented(method, level, name);
}

/** A subresource of a bucket below a key, or the other way round. */
function ofOtherLevel(level: Level, name: string): S3Error | undefined {
  if (level === 'bucket' && name in ofObject) return new S3Error('InvalidRequest', 'A key must be specified');
  if (level !== 'object' || !(name in ofBucket)) return undefined;
  const message = `There is no such thing as the ?${name} sub-resource for a key`;
  return new S3Error(name === 'logging' ? 'NoLoggingStatusForKey' : 'InvalidRequest', message);
}

function ofKey(level: Level, method: string, name: string): S3Error | undefined {
  if (level !== 'object' || method !== 'GET' || name !== 'uploads') return undefined;
  return new S3Error('InvalidRequest', 'Key is not expected for the GET method ?uploads subresource');
}

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6 which asks for the header Allow */
function notAllowed(method: string, type: string, served: readonly string[]): S3Error {
  return new S3Error('MethodNotAllowed', undefined, {
    details: { Method: method, ResourceType: type },
    headers: { allow: served.join(', ') },
  });
}

function notImplemented(method: string, level: Level, name: string): S3Error {
  return new S3Error('NotImplemented', `${method} of a ${level} with ${name} is not implemented.`);
}

function invalidArgument(message: string, ArgumentName: string, ArgumentValue?: string): S3Error {
  const details = { ArgumentName, ...(ArgumentValue !== undefined && { ArgumentValue }) };
  return new S3Error('InvalidArgument', message, { details });
}
