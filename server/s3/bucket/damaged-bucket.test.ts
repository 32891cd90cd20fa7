import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { commitOnce } from '../../store/commits.ts';
import { StoreError } from '../../store/store-error.ts';

const namesIn = (xml: string) => [...xml.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name);

it('a damaged record of one bucket does not hide the others from the list', async () => {
  const { layer, records, call } = await testCalls();
  for (const name of ['aaa', 'ccc']) await layer.createBucket(name, { location: '' });
  const damaged = { key: recordKeys.bucket('aaa'), value: Buffer.from('damaged') };
  await commitOnce(records, { put: [damaged] }, randomBytes);
  expect(namesIn((await call('GET', '/')).body)).toEqual(['aaa', 'bucket', 'ccc']);
  await expect(layer.headBucket('aaa')).rejects.toSatisfy(isUnreadable);
});

it('a caller whose right to a damaged bucket cannot be decided gets the list without it', async () => {
  const { layer, call } = await testCalls({
    authorize: ({ action, resource }) => {
      if (resource === 'aaa') throw new StoreError('unreadable-record', 'the record of bucket aaa is damaged');
      return action !== 's3:ListAllMyBuckets';
    },
  });
  await layer.createBucket('aaa', { location: '' });
  expect(namesIn((await call('GET', '/')).body)).toEqual(['bucket']);
});
