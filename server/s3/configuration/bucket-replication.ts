import { maxReplicationDocument, parseReplication, writeReplication } from '../../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Answer } from '../../http/contract/request.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation, Replications, S3Call } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** Throws `NoSuchBucket`, and `NotImplemented` where nothing replicates. */
async function replicationsOf({ replications, objects, bucket }: S3Call): Promise<Replications> {
  await objects.headBucket(bucket);
  if (replications !== undefined) return replications;
  throw new S3Error('NotImplemented', 'This server does not replicate buckets.');
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketReplication.html */
export const getBucketReplication: Operation = {
  name: 'GetBucketReplication',
  setting: 'replication',
  action: 's3:GetReplicationConfiguration',
  async handle(call) {
    const configuration = await call.objects.getBucketReplication(call.bucket);
    if (configuration === undefined) {
      throw new S3Error('ReplicationConfigurationNotFoundError', undefined, { details: { BucketName: call.bucket } });
    }
    return xmlAnswer(writeReplication(configuration));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketReplication.html */
export const putBucketReplication: Operation = {
  name: 'PutBucketReplication',
  setting: 'replication',
  action: 's3:PutReplicationConfiguration',
  async handle(call) {
    const configuration = parseReplication(await readDocument(call, maxReplicationDocument));
    await (await replicationsOf(call)).put(call.bucket, configuration, call.objects);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketReplication.html */
export const deleteBucketReplication: Operation = {
  name: 'DeleteBucketReplication',
  setting: 'replication',
  action: 's3:PutReplicationConfiguration',
  async handle(call) {
    await (await replicationsOf(call)).remove(call.bucket, call.objects);
    // AWS answers 204. Stock mc takes 200 alone, and the SDKs of AWS take both.
    return emptyAnswer(200);
  },
};

/** An extension of MinIO: `mc replicate status` asks for the second form, `?replication-metrics=2`. */
export const getReplicationMetrics: Operation = {
  name: 'GetBucketReplicationMetrics',
  action: 's3:GetReplicationConfiguration',
  async handle(call) {
    const version = call.query.get('replication-metrics') === '2' ? 2 : 1;
    return jsonAnswer(await (await replicationsOf(call)).metrics(call.bucket, version));
  },
};

/** An extension of MinIO: `mc replicate resync start` sends what is there again. */
export const startReplicationResync: Operation = {
  name: 'ResetBucketReplicationStart',
  action: 's3:ResetBucketReplicationState',
  async handle(call) {
    const { query } = call;
    await call.objects.headBucket(call.bucket);
    const resync = {
      arn: query.get('arn') ?? '',
      olderThanMs: durationOf(query.get('older-than') ?? ''),
      id: idOf(query.get('reset-id') ?? ''),
    };
    return jsonAnswer(await (await replicationsOf(call)).startResync(call.bucket, resync));
  },
};

/** An extension of MinIO: `mc replicate resync status`. */
export const getReplicationResyncStatus: Operation = {
  name: 'ResetBucketReplicationStatus',
  action: 's3:ResetBucketReplicationState',
  async handle(call) {
    return jsonAnswer(await (await replicationsOf(call)).resyncs(call.bucket, call.query.get('arn') ?? ''));
  },
};

/** An extension of MinIO: `replicate resync cancel`. The answer is the id of the resync, as MinIO writes it. */
export const cancelReplicationResync: Operation = {
  name: 'ResetBucketReplicationCancel',
  action: 's3:ResetBucketReplicationState',
  async handle(call) {
    const id = await (await replicationsOf(call)).cancelResync(call.bucket, call.query.get('arn') ?? '');
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: { kind: 'bytes', bytes: Buffer.from(id) },
    };
  },
};

function jsonAnswer(value: object): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(value)) },
  };
}

const unitMs = { h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** Reads a duration as Go writes it: `168h0m0s`. */
function durationOf(text: string): number {
  if (text === '') return 0;
  const [, hours = '0', minutes = '0', seconds = '0'] =
    /^(?:(\d{1,7})h)?(?:(\d{1,4})m)?(?:(\d{1,4})s)?$/.exec(text) ?? [];
  if (/^(?:\d+[hms])+$/.test(text)) {
    return Number(hours) * unitMs.h + Number(minutes) * unitMs.m + Number(seconds) * unitMs.s;
  }
  throw new S3Error('InvalidArgument', `invalid query parameter older-than: write a duration, such as 168h0m0s`, {
    details: { ArgumentName: 'older-than', ArgumentValue: text.slice(0, 100) },
  });
}

function idOf(text: string): string | undefined {
  if (text === '') return undefined;
  if (/^[\w-]{1,64}$/.test(text)) return text;
  throw new S3Error('InvalidArgument', 'invalid query parameter reset-id', {
    details: { ArgumentName: 'reset-id', ArgumentValue: text.slice(0, 100) },
  });
}
