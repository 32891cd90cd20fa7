import { emptyAnswer } from '../answers.ts';
import { uploadIdOf } from '../multipart-parameters.ts';
import type { Operation } from '../operation.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html */
export const abortMultipartUpload: Operation = {
  name: 'AbortMultipartUpload',
  action: 's3:AbortMultipartUpload',
  async handle(call) {
    await call.objects.abortMultipartUpload(call.bucket, call.key, uploadIdOf(call));
    return emptyAnswer(204);
  },
};
