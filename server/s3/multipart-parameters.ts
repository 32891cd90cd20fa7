import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3Call } from './operation.ts';
import { integerParameter } from './query.ts';

export const maxPartNumber = 10_000;

export function uploadIdOf(call: S3Call): string {
  const uploadId = call.query.get('uploadId') ?? '';
  if (uploadId === '') throw new S3Error('NoSuchUpload');
  return uploadId;
}

/** @throws S3Error InvalidArgument for anything but 1 to 10,000 */
export function partNumberOf(call: S3Call): number {
  const text = call.query.get('partNumber');
  if (text === undefined || text === '') {
    throw new S3Error('InvalidArgument', 'This operation needs partNumber, a whole number from 1 to 10000.', {
      details: { ArgumentName: 'partNumber' },
    });
  }
  return integerParameter(call.query, 'partNumber', { min: 1, max: maxPartNumber, absent: 0 });
}
