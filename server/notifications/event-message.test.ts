import { describe, expect, it } from 'vitest';
import type { QueuedEvent } from '../objects/events/outbox.ts';
import { eventMessage, sequencerOf } from './event-message.ts';

const source = { region: 'us-east-1', endpoint: 'http://h:9000', deploymentId: 'D' };
const event: QueuedEvent = {
  name: 's3:ObjectCreated:Put',
  rule: 'r',
  time: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  bucket: 'b',
  key: "a b/c'(*)",
  versionId: 'v',
  object: { id: '1', size: 5, etag: 'stored', contentType: 'text/plain', metadata: { 'my-name': 'x' } },
  origin: { principal: 'P', address: '10.0.0.1', requestId: 'R', userAgent: 'U' },
};
const details = { sequencer: '0A', etag: 'shown' };

/** A header as `node:http` has it. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');

describe('the message of an event', () => {
  it('has the fields of MinIO', () => {
    const { name, key, body } = eventMessage(event, source, details);
    expect({ name, key }).toEqual({ name: 's3:ObjectCreated:Put', key: "b/a b/c'(*)" });
    expect(JSON.parse(body)).toEqual({
      EventName: 's3:ObjectCreated:Put',
      Key: "b/a b/c'(*)",
      Records: [
        {
          eventVersion: '2.0',
          eventSource: 'minio:s3',
          awsRegion: 'us-east-1',
          eventTime: '2026-01-02T03:04:05.006Z',
          eventName: 's3:ObjectCreated:Put',
          userIdentity: { principalId: 'P' },
          requestParameters: { principalId: 'P', region: 'us-east-1', sourceIPAddress: '10.0.0.1' },
          responseElements: {
            'x-amz-id-2': 'D',
            'x-amz-request-id': 'R',
            'x-minio-deployment-id': 'D',
            'x-minio-origin-endpoint': 'http://h:9000',
          },
          s3: {
            s3SchemaVersion: '1.0',
            configurationId: 'r',
            bucket: { name: 'b', ownerIdentity: { principalId: 'P' }, arn: 'arn:aws:s3:::b' },
            object: {
              key: 'a+b%2Fc%27%28%2A%29',
              size: 5,
              eTag: 'shown',
              contentType: 'text/plain',
              userMetadata: { 'content-type': 'text/plain', 'X-Amz-Meta-My-Name': 'x' },
              versionId: 'v',
              sequencer: '0A',
            },
          },
          source: { host: '10.0.0.1', port: '', userAgent: 'U' },
        },
      ],
    });
  });

  it('has the headers of the client as text, and no program where the client named none', () => {
    const metadata = { name: bytes('Grüße 日本'), latin: '\xfc' };
    const object = { id: '1', size: 5, etag: 'stored', contentType: bytes('text/ü'), metadata };
    const recordWith = (origin: QueuedEvent['origin']) => {
      const { body } = eventMessage({ ...event, object, origin }, source, details);
      return (JSON.parse(body) as { readonly Records: readonly object[] }).Records[0];
    };
    const origin = { principal: 'P', address: '10.0.0.1', requestId: 'R' };
    expect(recordWith({ ...origin, userAgent: bytes('Käfer/1') })).toMatchObject({
      source: { userAgent: 'Käfer/1' },
      s3: {
        object: {
          contentType: 'text/ü',
          userMetadata: { 'X-Amz-Meta-Name': 'Grüße 日本', 'X-Amz-Meta-Latin': 'ü' },
        },
      },
    });
    expect(recordWith(origin)).toMatchObject({ source: { userAgent: '' } });
    expect(recordWith(undefined)).toMatchObject({ source: { userAgent: 'Internal: Coffer' } });
  });

  it('has no size and no ETag for a removal', () => {
    const { body } = eventMessage({ ...event, name: 's3:ObjectRemoved:Delete', object: undefined }, source, details);
    const { Records } = JSON.parse(body) as { Records: { s3: { object: object } }[] };
    expect(Records[0]?.s3.object).toEqual({ key: 'a+b%2Fc%27%28%2A%29', versionId: 'v', sequencer: '0A' });
  });

  it('is that of AWS for a test event', () => {
    expect(JSON.parse(eventMessage({ ...event, name: 's3:TestEvent', key: '' }, source, details).body)).toEqual({
      Service: 'Amazon S3',
      Event: 's3:TestEvent',
      Time: '2026-01-02T03:04:05.006Z',
      Bucket: 'b',
      RequestId: 'R',
      HostId: 'D',
    });
  });
});

it('sequencers compare as revisions do', () => {
  const revisions = [1, 15, 16, 255, 256, 1_700_000_000_000_000];
  const sequencers = revisions.map(sequencerOf);
  expect(sequencers.toSorted()).toEqual(sequencers);
});
