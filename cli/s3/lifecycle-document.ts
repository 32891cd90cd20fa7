import { childrenOf, readXml, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import { element, xmlDocument, type Xml } from '../../protocol/s3/xml-writer.ts';
import { transitionMinimumHeader } from '../../protocol/s3/lifecycle/transition-minimum.ts';
import type { S3Client } from './client.ts';
import { xmlBody } from './xml-body.ts';

/** One condition of a rule, or with `And` several. Sizes are bytes. */
export interface RuleFilter {
  readonly And?: RuleConditions & { readonly Tags?: readonly RuleTag[] };
  readonly Prefix?: string;
  readonly Tag?: RuleTag;
  readonly ObjectSizeLessThan?: number;
  readonly ObjectSizeGreaterThan?: number;
}

interface RuleConditions {
  readonly Prefix?: string;
  readonly ObjectSizeLessThan?: number;
  readonly ObjectSizeGreaterThan?: number;
}

export interface RuleTag {
  readonly Key: string;
  readonly Value?: string;
}

/**
 * A lifecycle rule in the JSON of other clients. The names are those of the XML document, but for `Tags`. It has transitions too, which
 * only some servers support.
 */
export interface LifecycleRuleFields {
  readonly ID: string;
  readonly Status: string;
  readonly Prefix?: string;
  readonly Filter?: RuleFilter;
  readonly Expiration?: {
    readonly Date?: string;
    readonly Days?: number;
    readonly ExpiredObjectDeleteMarker?: boolean;
    readonly ExpiredObjectAllVersions?: boolean;
  };
  readonly Transition?: { readonly Date?: string; readonly Days?: number; readonly StorageClass?: string };
  readonly NoncurrentVersionExpiration?: {
    readonly NoncurrentDays?: number;
    readonly NewerNoncurrentVersions?: number;
  };
  readonly NoncurrentVersionTransition?: {
    readonly NoncurrentDays?: number;
    readonly NewerNoncurrentVersions?: number;
    readonly StorageClass?: string;
  };
  readonly AbortIncompleteMultipartUpload?: { readonly DaysAfterInitiation?: number };
  readonly DelMarkerExpiration?: { readonly Days?: number };
  readonly AllVersionsExpiration?: { readonly Days?: number; readonly DeleteMarker?: boolean };
}

const numbers = new Set([
  'Days',
  'DaysAfterInitiation',
  'NewerNoncurrentVersions',
  'NoncurrentDays',
  'ObjectSizeGreaterThan',
  'ObjectSizeLessThan',
]);
const booleans = new Set(['DeleteMarker', 'ExpiredObjectAllVersions', 'ExpiredObjectDeleteMarker']);
/** Elements that other clients write in JSON even when they are 0. */
const shownAsZero = new Set(['Transition/Days', 'NoncurrentVersionTransition/NoncurrentDays']);
/** Actions that are none without a storage class. */
const transitions = ['Transition', 'NoncurrentVersionTransition'];
const maxBytes = 1_048_576;

/** @throws S3Error MalformedXML */
export function readLifecycleDocument(document: string): readonly LifecycleRuleFields[] {
  const root = readXml(document, { maxBytes, root: 'LifecycleConfiguration' });
  return childrenOf(root, 'Rule').map((node) => {
    const { ID = '', Status = '', ...rest } = fieldsOf(node) as Partial<LifecycleRuleFields>;
    return { ...rest, ID, Status };
  });
}

function fieldsOf(node: XmlNode): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const part of node.children) {
    if (node.name === 'And' && part.name === 'Tag') {
      fields['Tags'] = [...((fields['Tags'] as unknown[] | undefined) ?? []), fieldsOf(part)];
      continue;
    }
    const value = valueOf(part);
    const isZero = value === '' || value === false || value === 0 || isEmpty(value);
    if (!isZero || shownAsZero.has(`${node.name}/${part.name}`)) fields[part.name] = value;
  }
  for (const name of transitions.filter((one) => one === node.name)) {
    const days = name === 'Transition' ? 'Days' : 'NoncurrentDays';
    if (fields['Date'] === undefined) fields[days] ??= 0;
  }
  return fields;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function valueOf(node: XmlNode): unknown {
  if (node.children.length > 0) return fieldsOf(node);
  const text = node.text.trim();
  if (numbers.has(node.name)) return Number(text);
  return booleans.has(node.name) ? text === 'true' : text;
}

/** Writes the document that `PutBucketLifecycleConfiguration` takes. */
export function writeLifecycleDocument(rules: readonly LifecycleRuleFields[]): string {
  return xmlDocument('LifecycleConfiguration', rules.map(writeRule));
}

function writeRule(rule: LifecycleRuleFields): Xml {
  const { ID, Status, Prefix, Filter, ...actions } = rule;
  return element('Rule', [
    element('ID', ID),
    element('Status', Status),
    Filter === undefined && Prefix !== undefined ? element('Prefix', Prefix) : writeFilter(Filter ?? {}),
    ...Object.entries(actions).map(([name, fields]) => writeFields(name, fields)),
  ]);
}

function writeFilter({ And, Tag, ...condition }: RuleFilter): Xml {
  if (And !== undefined) {
    const { Tags = [], ...rest } = And;
    const tags = Tags.map((tag) => element('Tag', [element('Key', tag.Key), element('Value', tag.Value ?? '')]));
    return element('Filter', [element('And', [...tags, ...elementsOf(rest)])]);
  }
  if (Tag !== undefined) {
    return element('Filter', [element('Tag', [element('Key', Tag.Key), element('Value', Tag.Value ?? '')])]);
  }
  const conditions = elementsOf(condition);
  return element('Filter', conditions.length === 0 ? [element('Prefix', '')] : conditions);
}

function writeFields(name: string, fields: object): Xml | undefined {
  const elements = elementsOf(fields);
  return elements.length === 0 ? undefined : element(name, elements);
}

/** Omits what is empty, 0 or false. */
function elementsOf(fields: object): Xml[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '' && value !== 0 && value !== false)
    .map(([name, value]) => element(name, value as string | number | boolean));
}

export interface BucketLifecycle {
  readonly rules: readonly LifecycleRuleFields[];
  /** The time of the last change where the server reports it, else the zero time of Go. */
  readonly updatedAt: string;
  /** The header that says whether small objects move to tiers, where the server answers it. */
  readonly transitionMinimum?: string;
}

/**
 * @throws ResponseError NoSuchLifecycleConfiguration
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html
 */
export async function getLifecycle(client: S3Client, bucket: string): Promise<BucketLifecycle> {
  const query = { lifecycle: '', withUpdatedAt: 'true' };
  const { text, headers } = await client.text({ method: 'GET', bucket, query });
  const updated = headers['x-minio-lifecycleconfig-updatedat'];
  const minimum = headers[transitionMinimumHeader];
  const time =
    typeof updated === 'string' ? new Date(updated.replace(/^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/, isoOfBasic)) : undefined;
  const isKnown = time !== undefined && !Number.isNaN(time.getTime());
  return {
    rules: readLifecycleDocument(text),
    updatedAt: isKnown ? time.toISOString().replace('.000', '') : '0001-01-01T00:00:00Z',
    ...(typeof minimum === 'string' && { transitionMinimum: minimum }),
  };
}

/** `20260102T030405Z` to the extended form. */
function isoOfBasic(_: string, day: string, hour: string, minute: string, second: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${hour}:${minute}:${second}Z`;
}

/** Replaces all rules; without rules it removes the configuration. A change of rules keeps the minimum that they have. */
export async function putLifecycle(
  client: S3Client,
  bucket: string,
  { rules, transitionMinimum }: Pick<BucketLifecycle, 'rules' | 'transitionMinimum'>,
): Promise<void> {
  const query = { lifecycle: '' };
  if (rules.length === 0) await client.text({ method: 'DELETE', bucket, query });
  else {
    const { body, headers } = xmlBody(writeLifecycleDocument(rules));
    const minimum = transitionMinimum !== undefined && { [transitionMinimumHeader]: transitionMinimum };
    await client.text({ method: 'PUT', bucket, query, body, headers: { ...headers, ...minimum } });
  }
}
