import { textOfHeader } from '../../protocol/header-text.ts';
import type { QueuedEvent } from '../objects/events/outbox.ts';
import { testEventName } from '../objects/events/outbox.ts';

/** The server that an event comes from. */
export interface EventSource {
  readonly region: string;
  /** The address of the S3 API. */
  readonly endpoint: string;
  readonly deploymentId: string;
}

/** The fields that the event of the queue does not have. */
interface EventDetails {
  /** Grows with every event of an object. */
  readonly sequencer: string;
  /** As clients see it. Undefined where it cannot be shown. */
  readonly etag: string | undefined;
  /** That of the version which a removal made current. */
  readonly currentEtag?: string | undefined;
}

/**
 * Makes one of the `Records` of a message, with the fields of AWS and of MinIO. The name begins with `s3:`, as MinIO's does.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
export function eventRecord(
  event: Omit<QueuedEvent, 'current'>,
  source: EventSource,
  { sequencer, etag }: Pick<EventDetails, 'sequencer' | 'etag'>,
) {
  const { origin, object } = event;
  const principalId = origin?.principal ?? '';
  const sourceIPAddress = origin?.address ?? '';
  return {
    eventVersion: '2.0',
    eventSource: 'minio:s3',
    awsRegion: source.region,
    eventTime: new Date(event.time).toISOString(),
    eventName: event.name,
    userIdentity: { principalId },
    requestParameters: { principalId, region: source.region, sourceIPAddress },
    responseElements: {
      'x-amz-id-2': source.deploymentId,
      'x-amz-request-id': origin?.requestId ?? '',
      'x-minio-deployment-id': source.deploymentId,
      'x-minio-origin-endpoint': source.endpoint,
    },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: event.rule === '' ? 'Config' : event.rule,
      bucket: { name: event.bucket, ownerIdentity: { principalId }, arn: `arn:aws:s3:::${event.bucket}` },
      object: {
        key: urlEncoded(event.key),
        ...(object && {
          size: object.size,
          ...(etag !== undefined && { eTag: etag }),
          ...(object.contentType !== undefined && { contentType: textOfHeader(object.contentType) }),
          userMetadata: {
            ...(object.contentType !== undefined && { 'content-type': textOfHeader(object.contentType) }),
            ...metadataHeaders(object.metadata ?? {}),
          },
        }),
        ...(event.versionId !== undefined && { versionId: event.versionId }),
        sequencer,
      },
    },
    source: {
      host: sourceIPAddress,
      port: '',
      userAgent: origin === undefined ? 'Internal: Coffer' : textOfHeader(origin.userAgent ?? ''),
    },
  };
}

/** MinIO names user metadata as the header of the request does. */
function metadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [`X-Amz-Meta-${capitalized(name)}`, textOfHeader(value)]),
  );
}

function capitalized(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase());
}

/** Encodes as the form of a web page: a space is `+`, and a slash is encoded too. */
function urlEncoded(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A message for a target. */
export interface EventMessage {
  readonly name: string;
  /** `bucket/key`, not encoded. */
  readonly key: string;
  /** ISO 8601. */
  readonly time: string;
  /** The JSON document. */
  readonly body: string;
  /** The record alone. Absent for a test event. */
  readonly record?: object;
  /** The record of the version that the event made current. `unchanged`: another version was and is the current one. */
  readonly current?: object | 'unchanged';
}

/** Makes the message of an event: the form of MinIO around `Records`, and that of AWS for a test event. */
export function eventMessage(event: QueuedEvent, source: EventSource, details: EventDetails): EventMessage {
  const { name, bucket } = event;
  const time = new Date(event.time).toISOString();
  if (name === testEventName) {
    const requestId = event.origin?.requestId ?? '';
    const test = {
      Service: 'Amazon S3',
      Event: name,
      Time: time,
      Bucket: bucket,
      RequestId: requestId,
      HostId: source.deploymentId,
    };
    return { name, key: bucket, time, body: JSON.stringify(test) };
  }
  const key = `${bucket}/${event.key}`;
  const record = eventRecord(event, source, details);
  const current = currentOf(event, source, details);
  const body = JSON.stringify({ EventName: name, Key: key, Records: [record] });
  return { name, key, time, body, record, ...(current && { current }) };
}

function currentOf(
  { current, ...event }: QueuedEvent,
  source: EventSource,
  { sequencer, currentEtag }: EventDetails,
): EventMessage['current'] {
  if (current === undefined || current === 'unchanged') return current;
  return eventRecord({ ...event, ...current }, source, { sequencer, etag: currentEtag });
}

/** Writes a revision so that text compares as numbers do. */
export function sequencerOf(revision: number): string {
  return revision.toString(16).toUpperCase().padStart(16, '0');
}
