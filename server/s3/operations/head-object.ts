import { emptyAnswer } from '../answers.ts';
import { readConditions } from '../conditions.ts';
import { customerKeyOf } from '../customer-key.ts';
import type { Operation } from '../operation.ts';
import { answerRead, prepareRead } from '../reading.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
export const headObject: Operation = {
  name: 'HeadObject',
  action: 's3:GetObject',
  async handle(call) {
    const planFor = prepareRead(call);
    return answerRead(call, async () => {
      const info = await call.objects.headObject(
        call.bucket,
        call.key,
        readConditions(call.request.headers),
        customerKeyOf(call),
      );
      const { status, headers, start, end } = planFor(info);
      headers['content-length'] = String(end - start);
      return emptyAnswer(status, headers);
    });
  },
};
