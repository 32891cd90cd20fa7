import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer } from '../answers.ts';
import { header } from '../header.ts';
import type { Operation } from '../operation.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html */
export const deleteBucket: Operation = {
  name: 'DeleteBucket',
  action: 's3:DeleteBucket',
  async handle(call) {
    if (header(call.request.headers, 'x-minio-force-delete')?.toLowerCase() === 'true') {
      throw new S3Error(
        'NotImplemented',
        'Deleting a bucket that is not empty (x-minio-force-delete) is not implemented.',
      );
    }
    await call.objects.deleteBucket(call.bucket);
    return emptyAnswer(204);
  },
};
