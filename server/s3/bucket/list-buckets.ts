import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import type { Bucket } from '../../objects/contract/object-layer.ts';
import { xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';
import { integerParameter } from '../request.ts';
import { locationOf } from '../../../protocol/s3/bucket-location.ts';
import { regionOfLocation } from './bucket.ts';
import { makeToken, readToken } from './list-objects.ts';

/** The limit of AWS. Without `max-buckets` the answer lists all buckets. */
const maxBuckets = 10_000;

const partParameters = ['max-buckets', 'prefix', 'continuation-token', 'bucket-region'];

/** The condition keys of a listing that this request does not have. */
const ofListing = { below: false, keys: ['s3:prefix', 's3:delimiter', 's3:max-keys'] };

/**
 * Lists buckets. A caller without s3:ListAllMyBuckets gets the buckets that they may list, as a whole or below some prefix, so that a
 * console or client with a narrow policy shows them. An anonymous caller gets none, as in S3, whatever is public.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
 */
export const listBuckets: Operation = {
  name: 'ListBuckets',
  action: undefined,
  async handle(call) {
    if (call.auth.principal.kind === 'anonymous') await call.require('s3:ListAllMyBuckets', '');
    const seesAll = await call.allows('s3:ListAllMyBuckets', '');
    const prefix = call.query.get('prefix') ?? '';
    const region = call.query.get('bucket-region') ?? '';
    const token = call.query.get('continuation-token') ?? '';
    const after = token === '' ? '' : readToken(token);
    const limit = integerParameter(call.query, 'max-buckets', { min: 1, max: maxBuckets, absent: Infinity });
    // S3 gives the region to clients that send one of its newer parameters.
    const asksForPart = partParameters.some((name) => call.query.has(name));
    const visible = [];
    let next: string | undefined;
    for (const bucket of await call.objects.listBuckets()) {
      if (bucket.name <= after || !bucket.name.startsWith(prefix)) continue;
      if (region !== '' && region !== regionOf(bucket)) continue;
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
          visible.map((bucket) =>
            element('Bucket', [
              element('Name', bucket.name),
              element('CreationDate', bucket.created),
              asksForPart ? element('BucketRegion', regionOf(bucket)) : undefined,
            ]),
          ),
        ),
        next === undefined ? undefined : element('ContinuationToken', makeToken(next)),
        prefix === '' ? undefined : element('Prefix', prefix),
      ]),
    );

    function regionOf(bucket: Bucket): string {
      return regionOfLocation(locationOf(call, bucket));
    }

    async function mayList(bucket: string): Promise<boolean> {
      return (await couldDo('s3:ListBucket', bucket)) || couldDo('s3:GetBucketLocation', bucket);
    }

    async function couldDo(action: string, bucket: string): Promise<boolean> {
      try {
        await call.requirePossible(action, bucket, ofListing);
        return true;
      } catch (error) {
        // The policy of a damaged bucket is not known.
        if (isUnreadable(error) || (error instanceof S3Error && error.code === 'AccessDenied')) return false;
        throw error;
      }
    }
  },
};
