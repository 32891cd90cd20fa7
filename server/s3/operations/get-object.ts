import { readConditions } from '../conditions.ts';
import { customerKeyOf } from '../customer-key.ts';
import type { Operation } from '../operation.ts';
import { answerRead, prepareRead } from '../reading.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export const getObject: Operation = {
  name: 'GetObject',
  action: 's3:GetObject',
  async handle(call) {
    const planFor = prepareRead(call);
    return answerRead(call, async () => {
      const object = await call.objects.getObject(
        call.bucket,
        call.key,
        readConditions(call.request.headers),
        customerKeyOf(call),
      );
      const { status, headers, start, end } = planFor(object.info);
      if (start === end) return { status, headers, body: { kind: 'empty' } };
      if (object.bytes !== undefined)
        return { status, headers, body: { kind: 'bytes', bytes: object.bytes({ start, end }) } };
      return { status, headers, body: { kind: 'pieces', size: end - start, pieces: object.lend({ start, end }) } };
    });
  },
};
