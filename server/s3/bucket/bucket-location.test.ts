import { expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const located = (region: string) => ({
  body: `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`,
});

it.each([
  ['eu-central-1', '>eu-central-1<', 'eu-central-1'],
  ['us-gov-west-1', '>us-gov-west-1<', 'us-gov-west-1'],
  ['us-east-1', '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>', 'us-east-1'],
  // The oldest region of Europe has a name of its own in this document alone.
  ['EU', '>EU<', 'eu-west-1'],
])('a store without a region makes a bucket in %s, and answers it', async (region, location, header) => {
  const { call } = await testCalls();
  expect(await call('PUT', '/made', located(region))).toMatchObject({ status: 200 });
  expect((await call('GET', '/made?location')).body).toContain(location);
  expect((await call('HEAD', '/made')).headers['x-amz-bucket-region']).toBe(header);
  expect((await call('GET', `/?bucket-region=${header}`)).body).toContain('<Name>made</Name>');
});

it.each(['mars-1', 'home', 'auto'])('a store without a region refuses %s, and says what it takes', async (region) => {
  const { call } = await testCalls();
  const refused = await call('PUT', '/made', located(region));
  expect(refused).toMatchObject({ status: 400, code: 'InvalidLocationConstraint' });
  expect(refused.refusal).toContain(`"${region}" is no name of a region: send one like "eu-central-1"`);
});

it('a store with a region takes its own alone, and names the setting', async () => {
  const { call } = await testCalls({ hasRegion: true });
  expect(await call('PUT', '/made', located('us-east-1'))).toMatchObject({ status: 200 });
  const refused = await call('PUT', '/other', located('eu-central-1'));
  expect(refused).toMatchObject({ status: 400, code: 'IllegalLocationConstraintException' });
  expect(refused.refusal).toContain('SVC_REGION');
});

it('a store that got a region later answers it for all buckets, since signatures must name it', async () => {
  const { call, layer } = await testCalls({ hasRegion: true });
  await layer.createBucket('older', { location: 'eu-central-1' });
  expect((await call('HEAD', '/older')).headers['x-amz-bucket-region']).toBe('us-east-1');
  expect((await call('GET', '/older?location')).body).not.toContain('eu-central-1');
  expect((await call('GET', '/?bucket-region=us-east-1')).body).toContain('<Name>older</Name>');
});
