import { randomBytes } from 'node:crypto';
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

/** The rules by which the versions of a bucket are replicated to remote targets. */
export interface ReplicationConfiguration {
  /** Returned as it was put. It is an ARN of a target in the older form of MinIO, where destinations are ARNs of AWS. */
  readonly role?: string;
  readonly rules: readonly ReplicationRule[];
}

export interface ReplicationRule {
  readonly id: string;
  readonly enabled: boolean;
  /** The highest priority decides between the rules of one target that match an object. */
  readonly priority: number;
  readonly filter: ReplicationFilter;
  /** `Destination/Bucket` as it was put. */
  readonly destination: string;
  /** The ARN of the remote target. */
  readonly target: string;
  readonly storageClass?: string;
  readonly deleteMarkers: boolean;
  /** An extension of MinIO: removals of versions are replicated. */
  readonly deletes: boolean;
  /** Tags and locks that clients set on replicas are replicated. */
  readonly replicaModifications: boolean;
  /** A resync may send what was there before the rule. */
  readonly existingObjects: boolean;
}

/** An object must fulfil all that is there. */
export interface ReplicationFilter {
  readonly prefix?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Bytes of the document. */
export const maxReplicationDocument = 2 * 1_024 * 1_024;
/** The storage classes that a rule may name. Which of them a target takes depends on its kind. */
export const replicaStorageClasses = [
  'STANDARD',
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'GLACIER_IR',
  'DEEP_ARCHIVE',
] as const;
const maxRules = 1_000;
const maxId = 255;
const maxPriority = 2 ** 31 - 1;

/** An ARN of a remote target: `arn:minio:replication:REGION:ID:BUCKET`. */
export function targetArn(id: string, bucket: string): string {
  return `arn:minio:replication::${id}:${bucket}`;
}

/** Returns the id of a remote target from its ARN; undefined for another text. */
export function targetIdOf(arn: string): string | undefined {
  return /^arn:minio:replication:[a-z0-9-]{0,64}:([0-9a-f-]{36}):[^:]{1,255}$/.exec(arn)?.[1];
}

/**
 * Reads a ReplicationConfiguration.
 *
 * @throws S3Error MalformedXML, InvalidArgument and InvalidRequest; NotImplemented for what the server would not do
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketReplication.html
 */
export function parseReplication(body: string | Buffer): ReplicationConfiguration {
  const root = readXml(body, { maxBytes: maxReplicationDocument, root: 'ReplicationConfiguration' });
  checkChildren(root, ['Role'], ['Rule']);
  const nodes = childrenOf(root, 'Rule');
  if (nodes.length === 0) throw malformed('"ReplicationConfiguration" lacks "Rule"');
  if (nodes.length > maxRules) {
    throw invalidRequest(`Replication configuration allows a maximum of ${maxRules} rules`);
  }
  const role = textOf(root, 'Role')?.trim() ?? '';
  if (role.length > 2_048) throw invalidArgument('The role is too long', 'Role', role);
  const rules = nodes.map((node) => parseRule(node, role));
  refuseTwice(rules, ({ id }) => id, 'Rule Id must be unique');
  refuseTwice(rules, ({ priority }) => priority, 'Replication configuration has duplicate priority');
  return { ...(role !== '' && { role }), rules };
}

function refuseTwice(
  rules: readonly ReplicationRule[],
  of: (rule: ReplicationRule) => string | number,
  message: string,
): void {
  if (new Set(rules.map(of)).size < rules.length) throw invalidRequest(message);
}

const elementsOfRule =
  'ID Status Priority Filter Prefix Destination DeleteMarkerReplication DeleteReplication SourceSelectionCriteria ExistingObjectReplication';

function parseRule(node: XmlNode, role: string): ReplicationRule {
  checkChildren(node, elementsOfRule.split(' '));
  const given = textOf(node, 'ID')?.trim() ?? '';
  if (given.length > maxId) throw invalidArgument(`ID must be less than ${maxId} characters`, 'ID', given);
  const filter = filterOf(node);
  const deleteMarkers = statusOf(child(node, 'DeleteMarkerReplication'), false);
  if (deleteMarkers && filter.tags !== undefined) {
    throw invalidRequest('Delete marker replication is not supported if any Tag filter is specified');
  }
  const storageClass = destinationOf(node);
  const destination = requiredText(requiredChild(node, 'Destination'), 'Bucket').trim();
  return {
    id: given === '' ? randomBytes(16).toString('hex') : given,
    enabled: statusOf(node, false),
    priority: priorityOf(node),
    filter,
    destination,
    target: targetOf(destination, role),
    ...(storageClass !== undefined && { storageClass }),
    deleteMarkers,
    deletes: statusOf(child(node, 'DeleteReplication'), false),
    replicaModifications: criteriaOf(child(node, 'SourceSelectionCriteria')),
    existingObjects: statusOf(child(node, 'ExistingObjectReplication'), false),
  };
}

/** The older form of MinIO has the ARN of the only target as the role. */
function targetOf(destination: string, role: string): string {
  if (targetIdOf(destination) !== undefined) return destination;
  if (targetIdOf(role) !== undefined && destination.startsWith('arn:aws:s3:::')) return role;
  throw invalidArgument(
    'The destination must be the ARN of a remote target of this bucket: add it by "mc admin bucket remote add"',
    'Bucket',
    destination,
  );
}

function destinationOf(rule: XmlNode): string | undefined {
  const node = requiredChild(rule, 'Destination');
  for (const name of ['Account', 'AccessControlTranslation', 'EncryptionConfiguration', 'Metrics', 'ReplicationTime']) {
    if (child(node, name) !== undefined) throw notImplemented(`"Destination" with "${name}"`);
  }
  checkChildren(node, ['Bucket', 'StorageClass']);
  const storageClass = textOf(node, 'StorageClass')?.trim() ?? '';
  if (storageClass === '') return undefined;
  if (replicaStorageClasses.some((known) => known === storageClass)) return storageClass;
  throw notImplemented(`"StorageClass" ${storageClass.slice(0, 64)}`);
}

/** The modifications of replicas are replicated unless the rule says otherwise, as in MinIO. */
function criteriaOf(node: XmlNode | undefined): boolean {
  if (node === undefined) return true;
  checkChildren(node, ['ReplicaModifications', 'SseKmsEncryptedObjects']);
  // Objects under SSE-KMS are always replicated.
  if (!statusOf(child(node, 'SseKmsEncryptedObjects'), true))
    throw notImplemented('"SseKmsEncryptedObjects" with Disabled');
  return statusOf(child(node, 'ReplicaModifications'), true);
}

/** Reads `Status`; an absent element has the default. */
function statusOf(node: XmlNode | undefined, byDefault: boolean): boolean {
  if (node === undefined) return byDefault;
  const text = textOf(node, 'Status')?.trim() ?? '';
  if (node.name !== 'Rule') {
    checkChildren(node, ['Status']);
    // Clients of MinIO send empty elements.
    if (text === '') return byDefault;
  }
  if (text === 'Enabled' || text === 'Disabled') return text === 'Enabled';
  throw malformed(`"Status" of "${node.name}" is Enabled or Disabled`);
}

function priorityOf(rule: XmlNode): number {
  const text = textOf(rule, 'Priority')?.trim() ?? '0';
  if (/^\d{1,10}$/.test(text) && Number(text) <= maxPriority) return Number(text);
  throw invalidArgument('The priority must be a number that is not negative', 'Priority', text);
}

function filterOf(rule: XmlNode): ReplicationFilter {
  const filter = child(rule, 'Filter');
  const prefix = textOf(rule, 'Prefix');
  if (filter === undefined) return prefixOf(prefix);
  if (prefix !== undefined) throw malformed('"Rule" has both "Filter" and "Prefix"');
  checkChildren(filter, ['Prefix', 'And'], ['Tag']);
  const and = child(filter, 'And');
  if (and === undefined || and.children.length === 0) return conditionsOf(filter);
  checkChildren(and, ['Prefix'], ['Tag']);
  if (textOf(filter, 'Prefix') || filter.children.some(({ name, children }) => name === 'Tag' && children.length > 0)) {
    throw malformed('"Filter" has conditions beside "And"');
  }
  return conditionsOf(and);
}

function conditionsOf(node: XmlNode): ReplicationFilter {
  const tags = new Map<string, string>();
  for (const tag of childrenOf(node, 'Tag')) {
    checkChildren(tag, ['Key', 'Value']);
    const [key, value] = [textOf(tag, 'Key') ?? '', textOf(tag, 'Value') ?? ''];
    // Clients of MinIO send an empty tag together with a prefix.
    if (key === '' && value === '') continue;
    if (key === '' || key.length > 128) throw new S3Error('InvalidTag', 'The TagKey must have 1 to 128 characters.');
    if (value.length > 256) throw new S3Error('InvalidTag', 'The TagValue must have at most 256 characters.');
    if (tags.has(key)) throw invalidRequest('Duplicate Tag Keys are not allowed.');
    tags.set(key, value);
  }
  if (tags.size > 10) throw invalidRequest(`A filter has ${tags.size} tags; an object has at most 10.`);
  return { ...prefixOf(textOf(node, 'Prefix')), ...(tags.size > 0 && { tags: Object.fromEntries(tags) }) };
}

function prefixOf(prefix = ''): ReplicationFilter {
  if (Buffer.byteLength(prefix) > 1_024) throw invalidRequest('The maximum size of a prefix is 1024.');
  return prefix === '' ? {} : { prefix };
}

function requiredChild(node: XmlNode, name: string): XmlNode {
  const found = child(node, name);
  if (found === undefined) throw malformed(`"${node.name}" lacks "${name}"`);
  return found;
}

function invalidRequest(message: string): S3Error {
  return new S3Error('InvalidRequest', message);
}

function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', `${what} is not implemented for replication.`);
}

function invalidArgument(message: string, name: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

/** Writes the document that GetBucketReplication answers. */
export function writeReplication({ role = '', rules }: ReplicationConfiguration): string {
  return xmlDocument('ReplicationConfiguration', [
    ...rules.map((rule) =>
      element('Rule', [
        element('ID', rule.id),
        writeStatus(rule.enabled),
        element('Priority', rule.priority),
        element('DeleteMarkerReplication', [writeStatus(rule.deleteMarkers)]),
        element('DeleteReplication', [writeStatus(rule.deletes)]),
        element('Destination', [
          element('Bucket', rule.destination),
          rule.storageClass === undefined ? undefined : element('StorageClass', rule.storageClass),
        ]),
        writeFilter(rule.filter),
        element('SourceSelectionCriteria', [element('ReplicaModifications', [writeStatus(rule.replicaModifications)])]),
        element('ExistingObjectReplication', [writeStatus(rule.existingObjects)]),
      ]),
    ),
    element('Role', role),
  ]);
}

function writeStatus(enabled: boolean): Xml {
  return element('Status', enabled ? 'Enabled' : 'Disabled');
}

function writeFilter({ prefix, tags = {} }: ReplicationFilter): Xml {
  const conditions = [
    ...(prefix === undefined ? [] : [element('Prefix', prefix)]),
    ...Object.entries(tags).map(([key, value]) => element('Tag', [element('Key', key), element('Value', value)])),
  ];
  if (conditions.length === 0) return element('Filter', [element('Prefix', '')]);
  return element('Filter', conditions.length === 1 ? conditions : [element('And', conditions)]);
}

/** The header of a removal between two Coffers: the time of the null version that was removed. A MinIO has the time of the removal alone. */
export const removedVersionTime = 'x-coffer-removed-version-time';
