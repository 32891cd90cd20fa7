import { describe, expect, it } from 'vitest';
import { type BucketLogging, parseLogging, writeLogging } from './bucket-logging.ts';

const status = (content: string) => `<BucketLoggingStatus>${content}</BucketLoggingStatus>`;
const enabled = (content: string) =>
  status(`<LoggingEnabled><TargetBucket>logs</TargetBucket>${content}</LoggingEnabled>`);
const prefix = '<TargetPrefix>a/</TargetPrefix>';
const format = (content: string) => enabled(`${prefix}<TargetObjectKeyFormat>${content}</TargetObjectKeyFormat>`);
const by = (source: string) =>
  format(`<PartitionedPrefix><PartitionDateSource>${source}</PartitionDateSource></PartitionedPrefix>`);

describe('parseLogging', () => {
  it.each<readonly [string, BucketLogging | undefined]>([
    [status(''), undefined],
    [enabled(prefix), { targetBucket: 'logs', targetPrefix: 'a/' }],
    [enabled('<TargetPrefix/>'), { targetBucket: 'logs', targetPrefix: '' }],
    [format('<SimplePrefix/>'), { targetBucket: 'logs', targetPrefix: 'a/' }],
    [by('EventTime'), { targetBucket: 'logs', targetPrefix: 'a/', partitionBy: 'EventTime' }],
    [by('DeliveryTime'), { targetBucket: 'logs', targetPrefix: 'a/', partitionBy: 'DeliveryTime' }],
  ])('reads %s', (document, logging) => {
    expect(parseLogging(document)).toEqual(logging);
    expect(parseLogging(writeLogging(logging))).toEqual(logging);
  });

  it.each([
    [enabled(''), 'MalformedXML'],
    [status(`<LoggingEnabled>${prefix}</LoggingEnabled>`), 'MalformedXML'],
    [enabled(prefix + prefix), 'MalformedXML'],
    [enabled(`${prefix}<Other/>`), 'MalformedXML'],
    [status('<Other/>'), 'MalformedXML'],
    [by('Never'), 'MalformedXML'],
    [format('<SimplePrefix/><PartitionedPrefix/>'), 'MalformedXML'],
    [enabled(`${prefix}<TargetGrants><Grant/></TargetGrants>`), 'NotImplemented'],
    [enabled(`<TargetPrefix>${'x'.repeat(801)}</TargetPrefix>`), 'InvalidArgument'],
  ])('refuses %s', (document, code) => {
    expect(() => parseLogging(document)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
