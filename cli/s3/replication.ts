import { isDeepStrictEqual } from 'node:util';
import { newElement, readEditable, textAt, withText, without, writeEdited } from '../../protocol/s3/xml-edit.ts';
import { childrenOf, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import type { S3Client } from './client.ts';
import { elementsOf, withFields } from './document-fields.ts';
import type { BucketSetting } from './edit-setting.ts';

export interface ReplicationTag {
  readonly Key?: string;
  readonly Value?: string;
}

type Switch = { readonly Status: string };

/** A rule in the JSON of other clients; the names are those of the XML document, but for `Tags`. */
export interface ReplicationRule {
  readonly ID: string;
  readonly Status: string;
  readonly Priority: number;
  readonly DeleteMarkerReplication: Switch;
  /** An extension of MinIO: whether the removal of a version is replicated. */
  readonly DeleteReplication: Switch;
  readonly Destination: { readonly Bucket: string; readonly StorageClass?: string };
  readonly Filter: {
    readonly Prefix?: string;
    readonly And: { readonly Prefix?: string; readonly Tags?: readonly ReplicationTag[] };
    readonly Tag: ReplicationTag;
  };
  readonly SourceSelectionCriteria: { readonly ReplicaModifications: Switch };
  readonly ExistingObjectReplication: Switch;
}

export interface ReplicationConfig {
  readonly Rules: readonly ReplicationRule[];
  readonly Role: string;
}

export const replicationSetting: BucketSetting = {
  name: 'replication',
  absent: 'ReplicationConfigurationNotFoundError',
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketReplication.html */
export async function getReplication(client: S3Client, bucket: string): Promise<ReplicationConfig> {
  const { text } = await client.text({ method: 'GET', bucket, query: { replication: '' } });
  return readReplicationDocument(text);
}

/** @throws S3Error MalformedXML */
export function readReplicationDocument(document: string): ReplicationConfig {
  const root = readXml(document, { maxBytes: 1_048_576, root: 'ReplicationConfiguration' });
  return { Rules: childrenOf(root, 'Rule').map(parseRule), Role: textOf(root, 'Role') ?? '' };
}

/** Reads a rule. Elements that other clients do not have are fields of the same names, so that an export has them too. */
function parseRule(node: XmlNode): ReplicationRule {
  const status = (name: string, from = node): Switch => ({ Status: at(from, name, 'Status') });
  const storageClass = at(node, 'Destination', 'StorageClass');
  const [destination] = childrenOf(node, 'Destination');
  const [criteria] = childrenOf(node, 'SourceSelectionCriteria');
  const [filter] = childrenOf(node, 'Filter');
  return {
    ...otherFields(node, knownOfRule),
    ID: textOf(node, 'ID') ?? '',
    Status: textOf(node, 'Status') ?? '',
    Priority: Number(textOf(node, 'Priority') ?? 0),
    DeleteMarkerReplication: status('DeleteMarkerReplication'),
    DeleteReplication: status('DeleteReplication'),
    Destination: {
      ...otherFields(destination, ['Bucket', 'StorageClass']),
      Bucket: at(node, 'Destination', 'Bucket'),
      ...(storageClass && { StorageClass: storageClass }),
    },
    Filter: parseFilter(filter),
    SourceSelectionCriteria: {
      ...otherFields(criteria, ['ReplicaModifications']),
      ReplicaModifications: criteria ? status('ReplicaModifications', criteria) : { Status: '' },
    },
    ExistingObjectReplication: status('ExistingObjectReplication'),
  };
}

const knownOfRule = [
  'ID',
  'Status',
  'Priority',
  'DeleteMarkerReplication',
  'DeleteReplication',
  'Destination',
  'Filter',
  'SourceSelectionCriteria',
  'ExistingObjectReplication',
];

function parseFilter(filter: XmlNode | undefined): ReplicationRule['Filter'] {
  const and = filter && childrenOf(filter, 'And')[0];
  const tag = filter && childrenOf(filter, 'Tag')[0];
  const tags = and === undefined ? [] : childrenOf(and, 'Tag').map(parseTag);
  const [prefix, andPrefix] = [filter && textOf(filter, 'Prefix'), and && textOf(and, 'Prefix')];
  return {
    ...otherFields(filter, ['And', 'Prefix', 'Tag']),
    ...(prefix && { Prefix: prefix }),
    And: {
      ...otherFields(and, ['Prefix', 'Tag']),
      ...(andPrefix && { Prefix: andPrefix }),
      ...(tags.length > 0 && { Tags: tags }),
    },
    Tag: tag === undefined ? {} : parseTag(tag),
  };
}

/** The fields of the elements that are not `known`. Repeated ones are a list. */
function otherFields(node: XmlNode | undefined, known: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const { name, text, children } of node?.children ?? []) {
    if (known.includes(name)) continue;
    const value = children.length === 0 ? text : otherFields({ name, text, children }, []);
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

function at(node: XmlNode, name: string, field: string): string {
  const found = childrenOf(node, name)[0];
  return found === undefined ? '' : (textOf(found, field) ?? '');
}

function parseTag(node: XmlNode): ReplicationTag {
  const value = textOf(node, 'Value') ?? '';
  return { Key: textOf(node, 'Key') ?? '', ...(value !== '' && { Value: value }) };
}

export function writeReplicationDocument({ Rules, Role }: ReplicationConfig): string {
  return writeEdited(
    newElement('ReplicationConfiguration', [
      ...Rules.map(writeRule),
      ...(Role === '' ? [] : [newElement('Role', Role)]),
    ]),
  );
}

export async function deleteReplication(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, query: { replication: '' } });
}

/** Returns the document with one more rule; all others stay as they came. */
export function withReplication(document: string | undefined, rule: ReplicationRule): string {
  if (document === undefined) return writeReplicationDocument({ Rules: [rule], Role: '' });
  const root = withTargets(readEditable(document));
  return writeEdited({ ...root, children: [...root.children, writeRule(rule)] });
}

/**
 * In an older form of MinIO the role names the target of all rules. A further rule has another target, so that each rule gets its own. The role
 * of AWS stays.
 */
function withTargets(root: XmlNode): XmlNode {
  const role = textAt(root, ['Role']) ?? '';
  if (!role.startsWith('arn:minio:replication:')) return root;
  const children = root.children
    .filter(({ name }) => name !== 'Role')
    .map((node) => {
      const own = textAt(node, ['Destination', 'Bucket']) ?? '';
      const isOwn = node.name !== 'Rule' || own.startsWith('arn:minio:replication:');
      return isOwn ? node : withText(node, ['Destination', 'Bucket'], role);
    });
  return { ...root, children };
}

/** Returns the document with a rule as `edit` wants it; undefined without a rule of this ID. What `edit` does not change stays as it came. */
export function withEditedReplication(
  document: string,
  id: string,
  edit: (rule: ReplicationRule) => ReplicationRule,
): string | undefined {
  const root = readEditable(document);
  const found = root.children.find((node) => isRule(node, id));
  if (found === undefined) return undefined;
  const rule = parseRule(found);
  const after = edit(rule);
  const edited = withFields(found, { ...rule }, { ...after }, writeField);
  // The older form has the prefix beside the filter, and not both.
  const whole = isDeepStrictEqual(rule.Filter, after.Filter) ? edited : without(edited, ['Prefix']);
  if (whole === found) return document;
  return writeEdited({ ...root, children: root.children.map((node) => (node === found ? whole : node)) });
}

/** Returns the document without a rule; undefined without a rule of this ID. */
export function withoutReplication(document: string, id: string): string | undefined {
  const root = readEditable(document);
  const kept = root.children.filter((node) => !isRule(node, id));
  return kept.length === root.children.length ? undefined : writeEdited({ ...root, children: kept });
}

function isRule(node: XmlNode, id: string): boolean {
  return node.name === 'Rule' && (textAt(node, ['ID']) ?? '') === id;
}

function writeRule(rule: ReplicationRule): XmlNode {
  return newElement(
    'Rule',
    Object.entries(rule).flatMap(([name, value]) => writeField(name, value)),
  );
}

function writeField(name: string, value: unknown): readonly XmlNode[] {
  if (name === 'Filter') return [writeFilter(value as ReplicationRule['Filter'])];
  // A switch without a status, and an empty storage class, are none.
  if (value === '' || (isFields(value) && 'Status' in value && value['Status'] === '')) return [];
  if (!isFields(value)) return elementsOf(name, value);
  const children = Object.entries(value).flatMap(([inner, of]) => writeField(inner, of));
  return [newElement(name, children)];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function writeFilter({ Prefix = '', And, Tag, ...more }: ReplicationRule['Filter']): XmlNode {
  const others = Object.entries(more).flatMap(([name, value]) => elementsOf(name, value));
  const { Tags = [], Prefix: andPrefix, ...moreOfAnd } = And ?? {};
  const inside = [
    ...(andPrefix ? [newElement('Prefix', andPrefix)] : []),
    ...Tags.map(writeTag),
    ...Object.entries(moreOfAnd).flatMap(([name, value]) => elementsOf(name, value)),
  ];
  const first = inside.length > 0 ? newElement('And', inside) : Tag?.Key ? writeTag(Tag) : newElement('Prefix', Prefix);
  return newElement('Filter', [first, ...others]);
}

function writeTag({ Key = '', Value = '' }: ReplicationTag): XmlNode {
  return newElement('Tag', [newElement('Key', Key), newElement('Value', Value)]);
}
