import type { BatchJob } from './batch-jobs.ts';

/** Coffer's names of the parts of a metric are those of MinIO. */
export function jobMetric(job: BatchJob) {
  const { id, type, bucket, after = '', started, updated, ended, cancelled = false, objects, failed, failure } = job;
  const done = { lastBucket: bucket, lastObject: after, objects, objectsFailed: failed };
  return {
    jobID: id,
    jobType: type,
    startTime: new Date(started).toISOString(),
    lastUpdate: new Date(updated).toISOString(),
    retryAttempts: 0,
    complete: ended !== undefined && failed === 0 && !cancelled,
    // A client of MinIO waits until a job is complete or has failed.
    failed: ended !== undefined && (failed > 0 || cancelled),
    ...(cancelled && { cancelled }),
    ...(failure && { failure }),
    ...partOf(type, done, job),
  };
}

function partOf(type: BatchJob['type'], done: object, { deleteMarkers, bytes = 0, failedBytes = 0 }: BatchJob) {
  const markers = { deleteMarkers, deleteMarkersFailed: 0 };
  switch (type) {
    case 'expire':
      return { expired: { ...done, ...markers } };
    case 'keyrotate':
      return { rotation: done };
    case 'replicate':
      return { replicate: { ...done, ...markers, bytesTransferred: bytes, bytesFailed: failedBytes } };
    default:
      return type satisfies never;
  }
}
