import type { RuleCases, Spec } from './rule-case.ts';

const key: Spec = { tenantRef: { name: 'demo' }, user: 'ann' };
const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['s3:*'], Resource: '*' }] };

export const accessKeyCases: RuleCases = {
  kind: 'AccessKey',
  plural: 'accesskeys',
  good: [
    { title: 'the least', spec: key },
    { title: 'one that ends at a time of another zone', spec: { ...key, expiration: '2030-01-31T00:00:00+01:00' } },
    { title: 'one of the root user with a policy', spec: { tenantRef: { name: 'demo' }, policy } },
    {
      title: 'every field',
      spec: {
        ...key,
        accessKey: 'backup-2026',
        policy,
        description: 'nightly backup',
        expiration: '2030-01-31T00:00:00Z',
        disabled: true,
        credentialsSecret: { name: 'backup-keys' },
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [
    ...['yesterday', '2030-02-31T00:00:00Z', '2030-01-31'].map((expiration) => ({
      title: `one that ends "${expiration}"`,
      spec: { ...key, expiration },
      message: 'must be of type date-time',
    })),
    {
      title: 'a policy that neither allows nor denies',
      spec: { ...key, policy: { ...policy, Statement: [{ Effect: 'Permit' }] } },
      message: 'supported values: "Allow", "Deny"',
    },
    {
      title: 'one of the root user that nothing narrows',
      spec: { tenantRef: { name: 'demo' } },
      message: 'a key of the root user needs a policy that narrows it',
    },
  ],
  badChanges: [
    { title: 'another owner', from: key, to: { ...key, user: 'bob' }, message: 'user may not change' },
    { title: 'another access key', from: key, to: { ...key, accessKey: 'other' }, message: 'accessKey may not change' },
    {
      title: 'another tenant',
      from: key,
      to: { ...key, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
