import { emptyAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html */
export const headBucket: Operation = {
  name: 'HeadBucket',
  action: 's3:ListBucket',
  async handle(call) {
    const { location } = await call.objects.headBucket(call.bucket);
    return emptyAnswer(200, { 'x-amz-bucket-region': location });
  },
};
