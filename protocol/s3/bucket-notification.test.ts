import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNotification, writeNotification } from './bucket-notification.ts';
import { covers, isEventName } from './event-names.ts';
import { S3Error } from './s3-error.ts';

const known = { targets: ['_:webhook', 'B:nats'], region: 'us-east-1' };
const document = (...rules: string[]) => `<NotificationConfiguration>${rules.join('')}</NotificationConfiguration>`;
const arn = 'arn:minio:sqs::_:webhook';
const queue = (inside: string, of = arn) => `<QueueConfiguration><Queue>${of}</Queue>${inside}</QueueConfiguration>`;
const put = '<Event>s3:ObjectCreated:Put</Event>';
const filter = (...rules: readonly (readonly [name: string, value: string])[]) =>
  `<Filter><S3Key>${rules.map(([name, value]) => `<FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule>`).join('')}</S3Key></Filter>`;

describe('a notification configuration', () => {
  it.each([
    ['a name', put, { events: ['s3:ObjectCreated:Put'] }],
    ['a group', '<Event>s3:ObjectRemoved:*</Event>', { events: ['s3:ObjectRemoved:*'] }],
    ['a prefix and a suffix', put + filter(['prefix', 'a/'], ['suffix', '.jpg']), { prefix: 'a/', suffix: '.jpg' }],
    ['the names of AWS', put + filter(['Prefix', 'a']), { prefix: 'a' }],
  ])('is read with %s', (_what, inside, expected) => {
    expect(parseNotification(document(queue(inside)), known)).toEqual([
      expect.objectContaining({ arn, target: '_:webhook', ...expected }),
    ]);
  });

  it('switches notifications off without rules', () => {
    expect(parseNotification(document(), known)).toEqual([]);
  });

  it.each([
    ['arn:minio:sqs:us-east-1:B:nats', 'B:nats'],
    ['arn:coffer:sqs::B:nats', 'B:nats'],
  ])('takes %s', (of, target) => {
    expect(parseNotification(document(queue(put, of)), known)).toEqual([expect.objectContaining({ arn: of, target })]);
  });

  it.each([
    [
      'an unknown target',
      queue(put, 'arn:minio:sqs::other:webhook'),
      'InvalidArgument',
      /does not exist or is not well-formed.*: the server has no target other:webhook/,
    ],
    [
      'an ARN of AWS',
      queue(put, 'arn:aws:sqs:us-east-1:1:q'),
      'InvalidArgument',
      /does not exist.*: it is not arn:minio:sqs:REGION:ID:TYPE/,
    ],
    ['another region', queue(put, 'arn:minio:sqs:eu:_:webhook'), 'InvalidArgument', /different region.*not eu/],
    ['an unknown event', queue('<Event>s3:Nothing</Event>'), 'InvalidArgument', /event is not supported/],
    ['an event of buckets', queue('<Event>s3:BucketCreated:*</Event>'), 'InvalidArgument', /event is not supported/],
    ['no event', queue(''), 'MalformedXML', /lacks "Event"/],
    ['an event twice', queue(put + put), 'InvalidArgument', /cannot share a common event type/],
    ['another filter', queue(put + filter(['infix', 'a'])), 'InvalidArgument', /prefix or suffix/],
    ['two prefixes', queue(put + filter(['prefix', 'a'], ['prefix', 'b'])), 'InvalidArgument', /more than one prefix/],
    ['a long prefix', queue(put + filter(['prefix', 'ä'.repeat(513)])), 'InvalidArgument', /cannot exceed 1024 bytes/],
    ['a topic', '<TopicConfiguration/>', 'UnsupportedNotification', /TopicConfiguration/],
    ['a function', '<CloudFunctionConfiguration/>', 'UnsupportedNotification', /CloudFunction/],
    ['EventBridge', '<EventBridgeConfiguration/>', 'UnsupportedNotification', /EventBridge/],
    ['another element', queue(`${put}<Color/>`), 'MalformedXML', /Color/],
    [
      'an id twice',
      queue(`<Id>a</Id>${put}`) + queue('<Id>a</Id><Event>s3:ObjectRemoved:*</Event>'),
      'InvalidArgument',
      /IDs must be unique/,
    ],
    [
      'an overlap',
      queue(put) + queue(`<Event>s3:ObjectCreated:*</Event>${filter(['prefix', 'a'])}`),
      'InvalidArgument',
      /overlapping prefixes/,
    ],
    ['too many rules', queue(put).repeat(101), 'InvalidArgument', /more than 100/],
  ])('refuses %s', (_what, rules, code, message) => {
    const parse = () => parseNotification(document(rules), known);
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code }) as Error);
  });

  it.each([
    ['disjoint prefixes', queue(put + filter(['prefix', 'a'])) + queue(put + filter(['prefix', 'b']))],
    ['disjoint suffixes', queue(put + filter(['suffix', 'a'])) + queue(put + filter(['suffix', 'b']))],
    ['other events', queue(put) + queue('<Event>s3:ObjectRemoved:*</Event>')],
    ['two targets', queue(put) + queue(put, 'arn:minio:sqs::B:nats')],
  ])('takes rules of %s', (_what, rules) => {
    expect(parseNotification(document(rules), known)).toHaveLength(2);
  });

  it('is written as it was read', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ä', '<', '&', '/', ' '), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(text, text, (prefix, suffix) => {
        const rule = { id: 'x', arn, target: '_:webhook', events: ['s3:ObjectAccessed:Get'], prefix, suffix };
        expect(parseNotification(writeNotification([rule]), known)).toEqual([rule]);
      }),
    );
  });

  it('throws nothing but refusals', () => {
    const tag = fc.constantFrom(
      ...'QueueConfiguration Queue Event Filter S3Key FilterRule Name Value Id NotificationConfiguration'
        .split(' ')
        .flatMap((name) => [`<${name}>`, `</${name}>`, `<${name}/>`]),
      arn,
      'prefix',
      's3:ObjectCreated:*',
    );
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 30 }), (parts) => {
        try {
          parseNotification(document(...parts), known);
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
    );
  });
});

describe('the names of events', () => {
  it.each([
    ['s3:ObjectCreated:*', 's3:ObjectCreated:Put', true],
    ['s3:ObjectCreated:Put', 's3:ObjectCreated:Put', true],
    ['s3:ObjectCreated:Put', 's3:ObjectCreated:PutTagging', false],
    ['s3:ObjectRemoved:*', 's3:ObjectCreated:Put', false],
  ])('%s covers %s: %s', (asked, name, expected) => {
    expect(covers(asked, name)).toBe(expected);
  });

  it.each([
    's3:Replication:*',
    's3:ObjectRestore:*',
    's3:ObjectTransition:*',
    's3:Scanner:ManyVersions',
    's3:Scanner:BigPrefix',
  ])('%s of mc event add is known', (name) => {
    expect(isEventName(name)).toBe(true);
  });
});
