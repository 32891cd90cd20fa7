import type { Readable } from 'node:stream';
import { newElement, readEditable, writeEdited } from '../../protocol/s3/xml-edit.ts';
import { child, childrenOf, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import type { S3Client } from './client.ts';
import type { BucketSetting } from './edit-setting.ts';
import type { Retries } from './retry.ts';

/** The kinds of a destination: the service in its ARN, the element of its configuration, and the element of the ARN. */
const kinds = {
  sqs: ['QueueConfiguration', 'Queue'],
  sns: ['TopicConfiguration', 'Topic'],
  lambda: ['CloudFunctionConfiguration', 'CloudFunction'],
} as const;

export type DestinationKind = keyof typeof kinds;

/** As listings show them. */
const inOrder: readonly DestinationKind[] = ['sns', 'sqs', 'lambda'];

/** Sends the events of a bucket whose keys begin with `prefix` and end with `suffix` to a destination. */
export interface NotificationRule {
  readonly kind: DestinationKind;
  /** Empty for a rule without one; the server makes it. */
  readonly id: string;
  readonly arn: string;
  /** For example `s3:ObjectCreated:*`. */
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

/** The kind of destination that an ARN names; undefined for a text that is none. */
export function kindOfArn(arn: string): DestinationKind | undefined {
  const [prefix, , service = '', ...rest] = arn.split(':');
  return prefix === 'arn' && rest.length === 3 && Object.hasOwn(kinds, service)
    ? (service as DestinationKind)
    : undefined;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketNotificationConfiguration.html */
export async function getNotifications(client: S3Client, bucket: string): Promise<readonly NotificationRule[]> {
  const { text } = await client.text({ method: 'GET', bucket, query: { notification: '' } });
  const root = readXml(text, { maxBytes: 1_048_576, root: 'NotificationConfiguration' });
  return inOrder.flatMap((kind) => childrenOf(root, kinds[kind][0]).map((node) => parseRule(kind, node)));
}

function parseRule(kind: DestinationKind, node: XmlNode): NotificationRule {
  const filter = child(node, 'Filter');
  const key = filter === undefined ? undefined : child(filter, 'S3Key');
  const filters = key === undefined ? [] : childrenOf(key, 'FilterRule');
  const valueOf = (name: string) => filters.find((one) => textOf(one, 'Name')?.toLowerCase() === name);
  const [prefix, suffix] = [valueOf('prefix'), valueOf('suffix')];
  return {
    kind,
    id: textOf(node, 'Id') ?? '',
    arn: textOf(node, kinds[kind][1]) ?? '',
    events: childrenOf(node, 'Event').map(({ text }) => text),
    prefix: prefix === undefined ? '' : (textOf(prefix, 'Value') ?? ''),
    suffix: suffix === undefined ? '' : (textOf(suffix, 'Value') ?? ''),
  };
}

export const notificationSetting: BucketSetting = { name: 'notification' };

/** Returns the document with one more rule; all others stay as they came. */
export function withNotification(document: string, rule: NotificationRule): string {
  const root = readEditable(document);
  return writeEdited({ ...root, children: [...root.children, writeRule(rule)] });
}

/**
 * Returns the document without the first rule of this destination, events and filters; undefined if there is none. All others stay as they
 * came.
 */
export function withoutNotification(document: string, rule: Omit<NotificationRule, 'id' | 'kind'>): string | undefined {
  const root = readEditable(document);
  const found = root.children.find((node) => {
    const kind = inOrder.find((one) => kinds[one][0] === node.name);
    return kind !== undefined && isSame(parseRule(kind, node), rule);
  });
  return found && writeEdited({ ...root, children: root.children.filter((node) => node !== found) });
}

/** Returns the document without any rule of a destination; what else it has stays. */
export function withoutNotifications(document: string): string {
  const root = readEditable(document);
  const ofRules: readonly string[] = inOrder.map((kind) => kinds[kind][0]);
  return writeEdited({ ...root, children: root.children.filter(({ name }) => !ofRules.includes(name)) });
}

function isSame(one: NotificationRule, other: Omit<NotificationRule, 'id' | 'kind'>): boolean {
  const { arn, prefix, suffix, events } = other;
  const hasFilters = one.arn === arn && one.prefix === prefix && one.suffix === suffix;
  return hasFilters && one.events.length === events.length && one.events.every((event) => events.includes(event));
}

function writeRule({ kind, id, arn, events, prefix, suffix }: NotificationRule): XmlNode {
  const [name, destination] = kinds[kind];
  const filters = Object.entries({ prefix, suffix })
    .filter(([, value]) => value !== '')
    .map(([filter, value]) => newElement('FilterRule', [newElement('Name', filter), newElement('Value', value)]));
  return newElement(name, [
    ...(id === '' ? [] : [newElement('Id', id)]),
    newElement(destination, arn),
    ...events.map((event) => newElement('Event', event)),
    ...(filters.length === 0 ? [] : [newElement('Filter', [newElement('S3Key', filters)])]),
  ]);
}

/** The events to listen to. An empty bucket means all buckets. */
export interface Listening {
  readonly bucket: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * Opens the stream of events of MinIO: a line of JSON for each, and empty lines in between. Events between two attempts are lost, so that
 * `retries` may forbid a second one.
 */
export async function listenToEvents(
  client: S3Client,
  { bucket, events, prefix, suffix }: Listening,
  retries?: Retries,
): Promise<Readable> {
  const query = { ping: '10', events, ...(bucket === '' ? {} : { prefix, suffix }) };
  const { body } = await client.send({ method: 'GET', bucket, query, ...(retries && { retries }) });
  return body;
}
