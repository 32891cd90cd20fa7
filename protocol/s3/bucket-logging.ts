import { S3Error } from './s3-error.ts';
import { checkChildren, child, malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** The place of the access logs of a bucket. */
export interface BucketLogging {
  readonly targetBucket: string;
  readonly targetPrefix: string;
  /** Absent for names without partitions: `PREFIX` and the time of the delivery. */
  readonly partitionBy?: 'EventTime' | 'DeliveryTime';
}

/** Bytes of the document. */
export const maxLoggingDocument = 64 * 1_024;
/** Characters. */
const maxPrefix = 800;

/**
 * Reads a BucketLoggingStatus; undefined for one that turns logging off.
 *
 * @throws S3Error MalformedXML, InvalidArgument (a prefix), NotImplemented (grants)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLogging.html
 */
export function parseLogging(body: string | Buffer): BucketLogging | undefined {
  const root = readXml(body, { maxBytes: maxLoggingDocument, maxElements: 1_000, root: 'BucketLoggingStatus' });
  checkChildren(root, ['LoggingEnabled']);
  const enabled = child(root, 'LoggingEnabled');
  if (enabled === undefined) return undefined;
  checkChildren(enabled, ['TargetBucket', 'TargetPrefix', 'TargetGrants', 'TargetObjectKeyFormat']);
  if ((child(enabled, 'TargetGrants')?.children.length ?? 0) > 0) {
    throw new S3Error(
      'NotImplemented',
      'TargetGrants are not implemented: allow the readers of the logs by the policy of the target bucket.',
    );
  }
  const targetBucket = child(enabled, 'TargetBucket')?.text ?? '';
  const targetPrefix = child(enabled, 'TargetPrefix')?.text;
  if (targetBucket === '') throw malformed('"LoggingEnabled" lacks "TargetBucket"');
  if (targetPrefix === undefined) throw malformed('"LoggingEnabled" lacks "TargetPrefix"');
  if (targetPrefix.length > maxPrefix) {
    throw new S3Error(
      'InvalidArgument',
      `The target prefix for logging must not be longer than ${maxPrefix} characters.`,
    );
  }
  const partitionBy = partitionOf(child(enabled, 'TargetObjectKeyFormat'));
  return { targetBucket, targetPrefix, ...(partitionBy !== undefined && { partitionBy }) };
}

function partitionOf(format: XmlNode | undefined): BucketLogging['partitionBy'] {
  if (format === undefined) return undefined;
  checkChildren(format, ['SimplePrefix', 'PartitionedPrefix']);
  const partitioned = child(format, 'PartitionedPrefix');
  if (format.children.length !== 1) throw malformed('"TargetObjectKeyFormat" must have one format');
  if (partitioned === undefined) return undefined;
  checkChildren(partitioned, ['PartitionDateSource']);
  const source = child(partitioned, 'PartitionDateSource')?.text;
  if (source === 'EventTime' || source === 'DeliveryTime') return source;
  throw malformed('"PartitionDateSource" must be EventTime or DeliveryTime');
}

/** Writes the document that GetBucketLogging answers. */
export function writeLogging(logging: BucketLogging | undefined): string {
  if (logging === undefined) return xmlDocument('BucketLoggingStatus', []);
  const { targetBucket, targetPrefix, partitionBy } = logging;
  const format =
    partitionBy === undefined
      ? element('SimplePrefix', [])
      : element('PartitionedPrefix', [element('PartitionDateSource', partitionBy)]);
  return xmlDocument('BucketLoggingStatus', [
    element('LoggingEnabled', [
      element('TargetBucket', targetBucket),
      element('TargetPrefix', targetPrefix),
      element('TargetObjectKeyFormat', [format]),
    ]),
  ]);
}
