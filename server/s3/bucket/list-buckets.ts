import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';
import { integerParameter } from '../request.ts';
import { makeToken, readToken } from './list-objects.ts';

/** The limit of AWS. Without `max-buckets` the answer lists all buckets. */
const maxBuckets = 10_000;

/**
 * Lists buckets. A caller without s3:ListAllMyBuckets gets the buckets that they may list, so that a console or client with a narrow policy
 * shows them.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
 */
export const listBuckets: Operation = {
  name: 'ListBuckets',
  action: undefined,
  async handle(call) {
    const seesAll = await call.allows('s3:ListAllMyBuckets', '');
    const prefix = call.query.get('prefix') ?? '';
    const region = call.query.get('bucket-region') ?? '';
    const token = call.query.get('continuation-token') ?? '';
    const after = token === '' ? '' : readToken(token);
    const limit = integerParameter(call.query, 'max-buckets', { min: 1, max: maxBuckets, absent: Infinity });
    const visible = [];
    let next: string | undefined;
    for (const bucket of await call.objects.listBuckets()) {
      if (bucket.name <= after || !bucket.name.startsWith(prefix)) continue;
      if (region !== '' && region !== (bucket.location === '' ? call.region : bucket.location)) continue;
      if (!seesAll && !(await mayList(bucket.name))) continue;
      if (visible.length === limit) {
        next = visible.at(-1)?.name;
        break;
      }
      visible.push(bucket);
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
        next === undefined ? undefined : element('ContinuationToken', makeToken(next)),
        prefix === '' ? undefined : element('Prefix', prefix),
      ]),
    );

    async function mayList(bucket: string): Promise<boolean> {
      return (await call.allows('s3:ListBucket', bucket)) || call.allows('s3:GetBucketLocation', bucket);
    }
  },
};
