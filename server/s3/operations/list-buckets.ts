import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';

/**
 * Callers without s3:ListAllMyBuckets see the buckets that they may list, so that a console or client of a narrow policy shows them.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
 */
export const listBuckets: Operation = {
  name: 'ListBuckets',
  action: undefined,
  async handle(call) {
    const seesAll = await call.allows('s3:ListAllMyBuckets', '');
    const prefix = call.query.get('prefix') ?? '';
    const visible = [];
    for (const bucket of await call.objects.listBuckets()) {
      if (!bucket.name.startsWith(prefix)) continue;
      if (seesAll || (await mayEnter(bucket.name))) visible.push(bucket);
    }
    if (!seesAll && visible.length === 0) await call.require('s3:ListAllMyBuckets', '');
    return xmlAnswer(
      xmlDocument('ListAllMyBucketsResult', [
        owner('Owner'),
        element(
          'Buckets',
          visible.map(({ name, created }) =>
            element('Bucket', [element('Name', name), element('CreationDate', created)]),
          ),
        ),
        prefix === '' ? undefined : element('Prefix', prefix),
      ]),
    );

    async function mayEnter(bucket: string): Promise<boolean> {
      return (await call.allows('s3:ListBucket', bucket)) || call.allows('s3:GetBucketLocation', bucket);
    }
  },
};
