import { xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { textDocument } from '../text-document.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
export const getBucketLocation: Operation = {
  name: 'GetBucketLocation',
  action: 's3:GetBucketLocation',
  async handle(call) {
    const { location } = await call.objects.headBucket(call.bucket);
    // us-east-1 is told by an empty element, as it was before there were other regions.
    return xmlAnswer(
      location === 'us-east-1' ? xmlDocument('LocationConstraint', []) : textDocument('LocationConstraint', location),
    );
  },
};
