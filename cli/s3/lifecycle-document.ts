import { isDeepStrictEqual } from 'node:util';
import { newElement, readEditable, without, writeEdited } from '../../protocol/s3/xml-edit.ts';
import { childrenOf, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import { transitionMinimumHeader } from '../../protocol/s3/lifecycle/transition-minimum.ts';
import type { S3Client } from './client.ts';
import { elementsOf, withFields } from './document-fields.ts';
import type { BucketSetting } from './edit-setting.ts';

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
/** The texts of the user: blanks around them belong to them. */
const texts = new Set(['ID', 'Key', 'Prefix', 'StorageClass', 'Value']);
/**
 * Elements that say something when they are 0. Other clients write the days of transitions in JSON, too. A size above 0 excludes empty objects and
 * delete markers.
 */
const keptZeros = new Set([
  'Transition/Days',
  'NoncurrentVersionTransition/NoncurrentDays',
  ...['Filter', 'And'].flatMap((of) => [`${of}/ObjectSizeGreaterThan`, `${of}/ObjectSizeLessThan`]),
]);
/** Actions that are none without a storage class. */
const transitions = ['Transition', 'NoncurrentVersionTransition'];
const maxBytes = 1_048_576;

/** @throws S3Error MalformedXML */
export function readLifecycleDocument(document: string): readonly LifecycleRuleFields[] {
  const root = readXml(document, { maxBytes, root: 'LifecycleConfiguration' });
  return childrenOf(root, 'Rule').map(ruleOf);
}

function ruleOf(node: XmlNode): LifecycleRuleFields {
  const { ID = '', Status = '', ...rest } = fieldsOf(node) as Partial<LifecycleRuleFields>;
  return { ...rest, ID, Status };
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
    if (isZero && !keptZeros.has(`${node.name}/${part.name}`)) continue;
    // AWS has rules with several transitions.
    const known = fields[part.name];
    fields[part.name] = known === undefined ? value : [known, value].flat();
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
  if (texts.has(node.name)) return node.text;
  const text = node.text.trim();
  if (numbers.has(node.name)) return Number(text);
  return booleans.has(node.name) ? text === 'true' : text;
}

/** Writes the document that `PutBucketLifecycleConfiguration` takes. */
export function writeLifecycleDocument(rules: readonly LifecycleRuleFields[]): string {
  return writeEdited(newElement('LifecycleConfiguration', rules.map(writeRule)));
}

function writeRule(rule: LifecycleRuleFields): XmlNode {
  const { ID, Status, Prefix, Filter, ...actions } = rule;
  return newElement('Rule', [
    newElement('ID', ID),
    newElement('Status', Status),
    ...(Filter === undefined && Prefix !== undefined ? [newElement('Prefix', Prefix)] : writeField('Filter', Filter)),
    ...Object.entries(actions).flatMap(([name, fields]) => writeField(name, fields)),
  ]);
}

/** A rule without a filter is for all objects. */
function writeField(name: string, value: unknown): readonly XmlNode[] {
  if (name !== 'Filter') return elementsOf(name, withoutZeros(value, name));
  const { And, ...single } = (value ?? {}) as RuleFilter;
  const { Tags = [], ...conditions } = And ?? {};
  const inside = [...elementsOf('Tag', Tags.map(writtenTag)), ...childrenFor(conditions)];
  if (And !== undefined) return [newElement('Filter', [newElement('And', inside), ...childrenFor(single)])];
  const { Tag, ...rest } = single;
  const children = [...elementsOf('Tag', Tag && writtenTag(Tag)), ...childrenFor(rest)];
  return [newElement('Filter', children.length === 0 ? [newElement('Prefix', '')] : children)];
}

function writtenTag({ Key, Value = '' }: RuleTag): RuleTag {
  return { Key, Value };
}

function childrenFor(fields: object): readonly XmlNode[] {
  return elementsOf('', withoutZeros(fields, 'Filter')).flatMap(({ children }) => children);
}

/** Omits what is empty, 0 or false in an element of this name. */
function withoutZeros(value: unknown, element: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutZeros(one, element));
  if (typeof value !== 'object' || value === null)
    return value === '' || value === 0 || value === false ? undefined : value;
  const kept = Object.entries(value)
    .map(([name, of]) => [name, keptZeros.has(`${element}/${name}`) ? of : withoutZeros(of, name)] as const)
    .filter(([, of]) => of !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

const emptyDocument = newElement('LifecycleConfiguration', []);

/** Returns the document with one more rule; all others stay as they came. */
export function withRule(document: string | undefined, rule: LifecycleRuleFields): string {
  const root = document === undefined ? emptyDocument : readEditable(document);
  return writeEdited({ ...root, children: [...root.children, writeRule(rule)] });
}

/**
 * Returns the document with the rule of an ID as `edit` wants it; undefined if there is none. What `edit` does not change stays as it came, in
 * this rule and in all others.
 */
export function withEditedRule(
  document: string,
  id: string,
  edit: (rule: LifecycleRuleFields) => LifecycleRuleFields,
): string | undefined {
  const root = readEditable(document);
  const found = root.children.find((node) => isRule(node, id));
  if (found === undefined) return undefined;
  const rule = ruleOf(found);
  const after = edit(rule);
  const changed = withFields(found, { ...rule }, { ...after }, writeField);
  // The older form has the prefix beside the filter, and not both. An empty one is not a field.
  const edited = isDeepStrictEqual(rule.Filter, after.Filter) ? changed : without(changed, ['Prefix']);
  if (edited === found) return document;
  return writeEdited({ ...root, children: root.children.map((node) => (node === found ? edited : node)) });
}

/** Returns the document without the rule of an ID, which is undefined if that was the only one. Undefined if there is no such rule. */
export function withoutRule(document: string, id: string): { readonly document: string | undefined } | undefined {
  const root = readEditable(document);
  const kept = root.children.filter((node) => !isRule(node, id));
  if (kept.length === root.children.length) return undefined;
  const isEmpty = !kept.some(({ name }) => name === 'Rule');
  return { document: isEmpty ? undefined : writeEdited({ ...root, children: kept }) };
}

function isRule(node: XmlNode, id: string): boolean {
  return node.name === 'Rule' && (textOf(node, 'ID') ?? '') === id;
}

export const lifecycleSetting: BucketSetting = {
  name: 'lifecycle',
  absent: 'NoSuchLifecycleConfiguration',
  header: transitionMinimumHeader,
};

export interface BucketLifecycle {
  readonly rules: readonly LifecycleRuleFields[];
  /** The time of the last change where the server reports it, else the zero time of Go. */
  readonly updatedAt: string;
}

/**
 * @throws ResponseError NoSuchLifecycleConfiguration
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html
 */
export async function getLifecycle(client: S3Client, bucket: string): Promise<BucketLifecycle> {
  const query = { lifecycle: '', withUpdatedAt: 'true' };
  const { text, headers } = await client.text({ method: 'GET', bucket, query });
  const updated = headers['x-minio-lifecycleconfig-updatedat'];
  const time =
    typeof updated === 'string' ? new Date(updated.replace(/^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/, isoOfBasic)) : undefined;
  const isKnown = time !== undefined && !Number.isNaN(time.getTime());
  return {
    rules: readLifecycleDocument(text),
    updatedAt: isKnown ? time.toISOString().replace('.000', '') : '0001-01-01T00:00:00Z',
  };
}

/** `20260102T030405Z` to the extended form. */
function isoOfBasic(_: string, day: string, hour: string, minute: string, second: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${hour}:${minute}:${second}Z`;
}
