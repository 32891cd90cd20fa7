import { childrenOf, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import { element, xmlDocument, type Xml } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { xmlBody } from './xml-body.ts';

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

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketReplication.html */
export async function getReplication(client: S3Client, bucket: string): Promise<ReplicationConfig> {
  const { text } = await client.text({ method: 'GET', bucket, query: { replication: '' } });
  const root = readXml(text, { maxBytes: 1_048_576, root: 'ReplicationConfiguration' });
  return { Rules: childrenOf(root, 'Rule').map(parseRule), Role: textOf(root, 'Role') ?? '' };
}

function parseRule(node: XmlNode): ReplicationRule {
  const status = (name: string, from = node): Switch => ({ Status: at(from, name, 'Status') });
  const storageClass = at(node, 'Destination', 'StorageClass');
  const criteria = childrenOf(node, 'SourceSelectionCriteria')[0];
  const filter = childrenOf(node, 'Filter')[0];
  const and = filter === undefined ? undefined : childrenOf(filter, 'And')[0];
  const tag = filter === undefined ? undefined : childrenOf(filter, 'Tag')[0];
  const tags = and === undefined ? [] : childrenOf(and, 'Tag').map(parseTag);
  const [prefix, andPrefix] = [filter && textOf(filter, 'Prefix'), and && textOf(and, 'Prefix')];
  return {
    ID: textOf(node, 'ID') ?? '',
    Status: textOf(node, 'Status') ?? '',
    Priority: Number(textOf(node, 'Priority') ?? 0),
    DeleteMarkerReplication: status('DeleteMarkerReplication'),
    DeleteReplication: status('DeleteReplication'),
    Destination: { Bucket: at(node, 'Destination', 'Bucket'), ...(storageClass && { StorageClass: storageClass }) },
    Filter: {
      ...(prefix && { Prefix: prefix }),
      And: { ...(andPrefix && { Prefix: andPrefix }), ...(tags.length > 0 && { Tags: tags }) },
      Tag: tag === undefined ? {} : parseTag(tag),
    },
    SourceSelectionCriteria: {
      ReplicaModifications: criteria ? status('ReplicaModifications', criteria) : { Status: '' },
    },
    ExistingObjectReplication: status('ExistingObjectReplication'),
  };
}

function at(node: XmlNode, name: string, field: string): string {
  const found = childrenOf(node, name)[0];
  return found === undefined ? '' : (textOf(found, field) ?? '');
}

function parseTag(node: XmlNode): ReplicationTag {
  const value = textOf(node, 'Value') ?? '';
  return { Key: textOf(node, 'Key') ?? '', ...(value !== '' && { Value: value }) };
}

export async function putReplication(
  client: S3Client,
  bucket: string,
  { Rules, Role }: ReplicationConfig,
): Promise<void> {
  const document = xmlDocument('ReplicationConfiguration', [...Rules.map(writeRule), element('Role', Role)]);
  await client.text({ method: 'PUT', bucket, query: { replication: '' }, ...xmlBody(document) });
}

export async function deleteReplication(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, query: { replication: '' } });
}

function writeRule(rule: ReplicationRule): Xml {
  const { Bucket, StorageClass } = rule.Destination;
  return element('Rule', [
    element('ID', rule.ID),
    element('Status', rule.Status),
    element('Priority', rule.Priority),
    writeSwitch('DeleteMarkerReplication', rule.DeleteMarkerReplication),
    writeSwitch('DeleteReplication', rule.DeleteReplication),
    element('Destination', [
      element('Bucket', Bucket),
      StorageClass ? element('StorageClass', StorageClass) : undefined,
    ]),
    writeFilter(rule.Filter),
    element('SourceSelectionCriteria', [
      writeSwitch('ReplicaModifications', rule.SourceSelectionCriteria?.ReplicaModifications),
    ]),
    writeSwitch('ExistingObjectReplication', rule.ExistingObjectReplication),
  ]);
}

function writeSwitch(name: string, value: Switch | undefined): Xml | undefined {
  return value?.Status ? element(name, [element('Status', value.Status)]) : undefined;
}

function writeFilter({ Prefix = '', And, Tag }: ReplicationRule['Filter']): Xml {
  if (And.Tags !== undefined || And.Prefix !== undefined) {
    return element('Filter', [
      element('And', [And.Prefix ? element('Prefix', And.Prefix) : undefined, ...(And.Tags ?? []).map(writeTag)]),
    ]);
  }
  return element('Filter', [Tag.Key ? writeTag(Tag) : element('Prefix', Prefix)]);
}

function writeTag({ Key = '', Value = '' }: ReplicationTag): Xml {
  return element('Tag', [element('Key', Key), element('Value', Value)]);
}
