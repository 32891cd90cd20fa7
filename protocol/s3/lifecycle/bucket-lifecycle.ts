import { randomBytes } from 'node:crypto';
import { S3Error } from '../s3-error.ts';
import {
  checkChildren,
  child,
  childrenOf,
  malformed,
  readXml,
  requiredText,
  textOf,
  type XmlNode,
} from '../xml-reader.ts';
import { daysOf, flagOf, invalidArgument, keptOf, midnightOf, optional } from './lifecycle-elements.ts';
import {
  type NoncurrentTransition,
  type Transition,
  transitionsOf,
  writeTransitions,
} from './lifecycle-transitions.ts';
import { element, xmlDocument, type Xml } from '../xml-writer.ts';

/** A rule of a bucket's lifecycle: what happens to the objects of its filter, and when. */
export interface LifecycleRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly filter: LifecycleFilter;
  readonly expiration?: LifecycleExpiration;
  /** Noncurrent versions are removed `days` after they became noncurrent, but the newest `keep` of a key stay. */
  readonly noncurrent?: { readonly days: number; readonly keep?: number };
  /** Unfinished uploads are aborted this many days after their start. */
  readonly abortUploadsDays?: number;
  /** An extension of MinIO: a key whose current version is a delete marker of this many days is removed with all its versions. */
  readonly markerDays?: number;
  /** Current versions move to a tier. */
  readonly transition?: Transition;
  readonly noncurrentTransition?: NoncurrentTransition;
  /** Objects below 128 KiB do not move to a tier, unless the filter has a size. */
  readonly largeOnly?: true;
}

/** An object must fulfil all that is there. */
export interface LifecycleFilter {
  /** True for the deprecated form with `Prefix` in the rule itself. */
  readonly deprecated?: true;
  readonly prefix?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Bytes. */
  readonly greaterThan?: number;
  readonly lessThan?: number;
}

/** When current versions expire. `allVersions` is an extension of MinIO: the other versions of the key go with it. */
export type LifecycleExpiration =
  | { readonly days: number; readonly allVersions?: true }
  /** Milliseconds since 1970, at midnight UTC. */
  | { readonly date: number; readonly allVersions?: true }
  /** A delete marker without other versions is removed. */
  | { readonly loneMarkers: true };

/** Bytes of the document. */
export const maxLifecycleDocument = 512 * 1_024;
/** The limits of S3. */
const maxRules = 1_000;
const maxId = 255;

/**
 * Reads a LifecycleConfiguration.
 *
 * @throws S3Error MalformedXML, InvalidArgument and InvalidRequest with the texts of AWS
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html
 */
export function parseLifecycle(body: string | Buffer): readonly LifecycleRule[] {
  const root = readXml(body, { maxBytes: maxLifecycleDocument, root: 'LifecycleConfiguration' });
  // MinIO writes the time of the last change.
  checkChildren(root, ['ExpiryUpdatedAt'], ['Rule']);
  const nodes = childrenOf(root, 'Rule');
  if (nodes.length === 0) throw malformed('"LifecycleConfiguration" lacks "Rule"');
  if (nodes.length > maxRules) throw malformed(`there are ${nodes.length} rules; at most ${maxRules} are allowed`);
  const rules = nodes.map(parseRule);
  const ids = new Set<string>();
  for (const { id } of rules) {
    if (ids.has(id)) {
      throw invalidArgument('Rule ID must be unique. Found same ID for more than one rule', 'ID', id);
    }
    ids.add(id);
  }
  return rules;
}

const elementsOfRule =
  'ID Status Filter Prefix Expiration NoncurrentVersionExpiration AbortIncompleteMultipartUpload DelMarkerExpiration'.split(
    ' ',
  );

function parseRule(node: XmlNode): LifecycleRule {
  checkChildren(node, elementsOfRule, ['Transition', 'NoncurrentVersionTransition']);
  const given = textOf(node, 'ID')?.trim() ?? '';
  if (given.length > maxId) throw invalidArgument(`ID length should not exceed allowed limit of ${maxId}`, 'ID', given);
  const id = given === '' ? randomBytes(16).toString('hex') : given;
  const status = requiredText(node, 'Status').trim();
  if (status !== 'Enabled' && status !== 'Disabled') throw malformed('"Status" is Enabled or Disabled');
  const filter = filterOf(node);
  const expiration = expirationOf(child(node, 'Expiration'));
  const noncurrent = noncurrentOf(child(node, 'NoncurrentVersionExpiration'));
  const abortUploadsDays = daysOfAction(node, 'AbortIncompleteMultipartUpload', 'DaysAfterInitiation');
  const markerDays = daysOfAction(node, 'DelMarkerExpiration', 'Days');
  const { transition, noncurrentTransition } = transitionsOf(node);
  const actions = [expiration, noncurrent, abortUploadsDays, markerDays, transition, noncurrentTransition];
  if (actions.every((action) => action === undefined)) {
    throw invalidRequest('At least one action needs to be specified in a rule.');
  }
  const rule: LifecycleRule = {
    id,
    enabled: status === 'Enabled',
    filter,
    ...(expiration && { expiration }),
    ...(noncurrent && { noncurrent }),
    ...(abortUploadsDays !== undefined && { abortUploadsDays }),
    ...(markerDays !== undefined && { markerDays }),
    ...(transition && { transition }),
    ...(noncurrentTransition && { noncurrentTransition }),
  };
  checkActionsOfFilter(rule);
  checkOrderOfActions(rule);
  return rule;
}

/** Refuses actions on what has neither tags nor a size: no object would fulfil the rule. */
function checkActionsOfFilter({ filter, expiration, noncurrent, abortUploadsDays, markerDays }: LifecycleRule): void {
  const actions = [
    { name: 'AbortIncompleteMultipartUpload', isSet: abortUploadsDays !== undefined },
    { name: 'ExpiredObjectDeleteMarker', isSet: expiration !== undefined && 'loneMarkers' in expiration },
    { name: 'DelMarkerExpiration', isSet: markerDays !== undefined },
  ];
  const hasSize = filter.greaterThan !== undefined || filter.lessThan !== undefined;
  for (const { name, isSet } of actions) {
    if (isSet && filter.tags !== undefined) throw invalidRequest(`${name} cannot be specified with Tags.`);
    if (isSet && hasSize) throw invalidRequest(`${name} cannot be specified with Object Size.`);
  }
  if (noncurrent?.keep !== undefined && filter.deprecated === true) {
    throw invalidRequest('NewerNoncurrentVersions can only be specified with a Filter element.');
  }
}

function filterOf(rule: XmlNode): LifecycleFilter {
  const filter = child(rule, 'Filter');
  const prefix = textOf(rule, 'Prefix');
  if (filter === undefined) {
    if (prefix === undefined) throw malformed('"Rule" lacks "Filter"');
    return { deprecated: true, prefix: checkedPrefix(prefix) };
  }
  if (prefix !== undefined) throw malformed('"Rule" has both "Filter" and "Prefix"');
  checkChildren(filter, ['Prefix', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan', 'And'], ['Tag']);
  const and = child(filter, 'And');
  if (and === undefined) {
    if (filter.children.length > 1) throw malformed('"Filter" has more than one condition without "And"');
    return conditionsOf(filter);
  }
  if (filter.children.length > 1) throw malformed('"Filter" has conditions beside "And"');
  checkChildren(and, ['Prefix', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan'], ['Tag']);
  if (and.children.length === 0) throw malformed('"And" has no condition');
  return conditionsOf(and);
}

function conditionsOf(node: XmlNode): LifecycleFilter {
  const prefix = textOf(node, 'Prefix');
  const tags = tagsOf(childrenOf(node, 'Tag'));
  const greaterThan = sizeOf(node, 'ObjectSizeGreaterThan');
  const lessThan = sizeOf(node, 'ObjectSizeLessThan');
  if (greaterThan !== undefined && lessThan !== undefined && lessThan <= greaterThan) {
    throw invalidRequest("'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.");
  }
  return {
    ...(prefix !== undefined && prefix !== '' && { prefix: checkedPrefix(prefix) }),
    ...(tags && { tags }),
    ...(greaterThan !== undefined && { greaterThan }),
    ...(lessThan !== undefined && { lessThan }),
  };
}

function checkedPrefix(prefix: string): string {
  if (Buffer.byteLength(prefix) <= 1_024) return prefix;
  throw invalidRequest('The maximum size of a prefix is 1024.');
}

function tagsOf(nodes: readonly XmlNode[]): LifecycleFilter['tags'] {
  if (nodes.length === 0) return undefined;
  const tags = new Map<string, string>();
  for (const node of nodes) {
    checkChildren(node, ['Key', 'Value']);
    const [key, value] = [requiredText(node, 'Key'), requiredText(node, 'Value')];
    if (key === '' || key.length > 128) {
      throw new S3Error('InvalidTag', 'The TagKey you have provided is invalid: it has 1 to 128 characters.');
    }
    if (value.length > 256) {
      throw new S3Error('InvalidTag', 'The TagValue you have provided is invalid: it has at most 256 characters.');
    }
    if (tags.has(key)) throw invalidRequest('Duplicate Tag Keys are not allowed.');
    tags.set(key, value);
  }
  if (tags.size > 10) throw invalidRequest(`A filter has ${tags.size} tags; an object has at most 10.`);
  return Object.fromEntries(tags);
}

function sizeOf(node: XmlNode, name: string): number | undefined {
  const text = textOf(node, name)?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidArgument(`'${name}' should be a number of bytes.`, name, text);
}

function expirationOf(node: XmlNode | undefined): LifecycleExpiration | undefined {
  if (node === undefined) return undefined;
  checkChildren(node, ['Days', 'Date', 'ExpiredObjectDeleteMarker', 'ExpiredObjectAllVersions']);
  const days = daysOf(node, 'Days', 'Expiration');
  const date = textOf(node, 'Date')?.trim();
  const loneMarkers = flagOf(node, 'ExpiredObjectDeleteMarker');
  const allVersions = flagOf(node, 'ExpiredObjectAllVersions') === true ? { allVersions: true as const } : {};
  if ([days, date, loneMarkers].filter((value) => value !== undefined).length !== 1) {
    throw malformed('"Expiration" has one of "Days", "Date" and "ExpiredObjectDeleteMarker"');
  }
  if (days !== undefined) return { days, ...allVersions };
  if (date !== undefined) return { date: midnightOf(date), ...allVersions };
  if ('allVersions' in allVersions) throw malformed('"ExpiredObjectAllVersions" needs "Days" or "Date"');
  return loneMarkers === true ? { loneMarkers } : undefined;
}

function noncurrentOf(node: XmlNode | undefined): LifecycleRule['noncurrent'] {
  if (node === undefined) return undefined;
  checkChildren(node, ['NoncurrentDays', 'NewerNoncurrentVersions']);
  const keep = keptOf(node, 'NoncurrentVersionExpiration');
  const days = daysOf(node, 'NoncurrentDays', 'NoncurrentVersionExpiration');
  // `mc ilm rule add --noncurrent-expire-newer` sends no days: versions beyond the kept ones go at once.
  if (days === undefined && keep === undefined) throw malformed('"NoncurrentVersionExpiration" lacks "NoncurrentDays"');
  return { days: days ?? 0, ...(keep !== undefined && { keep }) };
}

/** Reads an action that has nothing but a count of days. */
function daysOfAction(rule: XmlNode, action: string, name: string): number | undefined {
  const node = child(rule, action);
  if (node === undefined) return undefined;
  checkChildren(node, [name]);
  const days = daysOf(node, name, action);
  if (days === undefined) throw malformed(`"${action}" lacks "${name}"`);
  return days;
}

/** Checks that what moves is not removed first. */
function checkOrderOfActions({ expiration, transition, noncurrent, noncurrentTransition }: LifecycleRule): void {
  if (expiration !== undefined && 'days' in expiration && transition !== undefined && 'days' in transition) {
    if (expiration.days > transition.days) return;
    throw tooEarly('Expiration', 'Days', expiration.days);
  }
  if (noncurrent === undefined || noncurrentTransition === undefined || noncurrent.days === 0) return;
  if (noncurrent.days > noncurrentTransition.days) return;
  throw tooEarly('NoncurrentVersionExpiration', 'NoncurrentDays', noncurrent.days);
}

function tooEarly(action: string, name: string, days: number): S3Error {
  const message = `'${name}' in the ${action} action must be greater than '${name}' in the Transition action`;
  return invalidArgument(message, name, String(days));
}

function invalidRequest(message: string): S3Error {
  return new S3Error('InvalidRequest', message);
}

/** Writes the document that GetBucketLifecycleConfiguration answers. */
export function writeLifecycle(rules: readonly LifecycleRule[]): string {
  return xmlDocument(
    'LifecycleConfiguration',
    rules.map((rule) =>
      element('Rule', [
        element('ID', rule.id),
        writeFilter(rule.filter),
        element('Status', rule.enabled ? 'Enabled' : 'Disabled'),
        rule.expiration && writeExpiration(rule.expiration),
        rule.noncurrent &&
          element('NoncurrentVersionExpiration', [
            rule.noncurrent.days === 0 ? undefined : element('NoncurrentDays', rule.noncurrent.days),
            optional('NewerNoncurrentVersions', rule.noncurrent.keep),
          ]),
        rule.abortUploadsDays === undefined
          ? undefined
          : element('AbortIncompleteMultipartUpload', [element('DaysAfterInitiation', rule.abortUploadsDays)]),
        rule.markerDays === undefined ? undefined : element('DelMarkerExpiration', [element('Days', rule.markerDays)]),
        ...writeTransitions(rule),
      ]),
    ),
  );
}

function writeFilter({ deprecated, prefix, tags = {}, greaterThan, lessThan }: LifecycleFilter): Xml {
  if (deprecated === true) return element('Prefix', prefix ?? '');
  const conditions = [
    prefix === undefined ? undefined : element('Prefix', prefix),
    ...Object.entries(tags).map(([key, value]) => element('Tag', [element('Key', key), element('Value', value)])),
    optional('ObjectSizeGreaterThan', greaterThan),
    optional('ObjectSizeLessThan', lessThan),
  ].filter((condition) => condition !== undefined);
  // AWS writes an empty prefix where a filter has no condition.
  if (conditions.length === 0) return element('Filter', [element('Prefix', '')]);
  return element('Filter', conditions.length === 1 ? conditions : [element('And', conditions)]);
}

function writeExpiration(expiration: LifecycleExpiration): Xml {
  if ('loneMarkers' in expiration) return element('Expiration', [element('ExpiredObjectDeleteMarker', true)]);
  return element('Expiration', [
    'days' in expiration
      ? element('Days', expiration.days)
      : element('Date', new Date(expiration.date).toISOString().replace('.000Z', 'Z')),
    expiration.allVersions === true ? element('ExpiredObjectAllVersions', true) : undefined,
  ]);
}
