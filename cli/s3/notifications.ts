import type { Readable } from 'node:stream';
import { child, childrenOf, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import { element, xmlDocument, type Xml } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import type { Retries } from './retry.ts';
import { xmlBody } from './xml-body.ts';

/** The kinds of a destination: the service in its ARN, the element of its configuration, and the element of the ARN. */
const kinds = {
  sqs: ['QueueConfiguration', 'Queue'],
  sns: ['TopicConfiguration', 'Topic'],
  lambda: ['CloudFunctionConfiguration', 'CloudFunction'],
} as const;

export type DestinationKind = keyof typeof kinds;

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
  const inOrder: readonly DestinationKind[] = ['sns', 'sqs', 'lambda'];
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

/** Replaces all rules. */
export async function putNotifications(
  client: S3Client,
  bucket: string,
  rules: readonly NotificationRule[],
): Promise<void> {
  const document = xmlDocument('NotificationConfiguration', rules.map(writeRule));
  await client.text({ method: 'PUT', bucket, query: { notification: '' }, ...xmlBody(document) });
}

function writeRule({ kind, id, arn, events, prefix, suffix }: NotificationRule): Xml {
  const [name, destination] = kinds[kind];
  const filters = Object.entries({ prefix, suffix })
    .filter(([, value]) => value !== '')
    .map(([filter, value]) => element('FilterRule', [element('Name', filter), element('Value', value)]));
  return element(name, [
    id === '' ? undefined : element('Id', id),
    element(destination, arn),
    ...events.map((event) => element('Event', event)),
    filters.length === 0 ? undefined : element('Filter', [element('S3Key', filters)]),
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
