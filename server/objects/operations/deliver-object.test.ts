import { expect, it } from 'vitest';
import type { ServicePrincipal } from '../../../protocol/policy/arns.ts';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { bodyFrom } from '../contract/body-source.ts';

const services = ['logging.s3.amazonaws.com', 's3.amazonaws.com'] as const;

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Delivers an object for each service into a bucket that denies this principal, and returns the services that were refused. */
async function refusedBy(Principal: unknown): Promise<readonly ServicePrincipal[]> {
  const { layer } = await testCalls();
  const statement = { Effect: 'Deny', Principal, Action: 's3:PutObject', Resource: 'arn:aws:s3:::bucket/*' };
  await layer.putBucketPolicy('bucket', JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
  const refused: ServicePrincipal[] = [];
  for (const service of services) {
    try {
      await layer.deliverObject({
        service,
        bucket: 'bucket',
        key: service,
        body: bodyFrom(once(Buffer.from('x'))),
        size: 1,
        digests: {},
        headers: { metadata: {} },
      });
    } catch (error) {
      expect(error).toMatchObject({ code: 'AccessDenied' });
      refused.push(service);
    }
  }
  return refused;
}

it.each(['arn:aws:iam:::user/*', 'a*', '?*', 'arn:aws:iam:::user/arn:aws:service::s3.amazonaws.com'])(
  'a Deny of the users %s does not deny what the server delivers',
  async (AWS) => expect(await refusedBy({ AWS })).toEqual([]),
);

it.each(services)('a Deny of %s denies what this service delivers, and no other', async (Service) =>
  expect(await refusedBy({ Service })).toEqual([Service]),
);

it.each(['*', { AWS: '*' }])('a Deny of %j denies all that the server delivers', async (Principal) =>
  expect(await refusedBy(Principal)).toEqual(services),
);
