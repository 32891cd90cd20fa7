import type { RuleCases, Spec } from './rule-case.ts';

const user: Spec = { tenantRef: { name: 'demo' } };

export const userCases: RuleCases = {
  kind: 'User',
  plural: 'users',
  good: [
    { title: 'the least', spec: user },
    {
      title: 'every field',
      spec: {
        ...user,
        accessKey: 'ann@example.org',
        disabled: true,
        groups: ['readers', 'writers'],
        credentialsSecret: { name: 'keys.of.ann' },
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [],
  badChanges: [
    {
      title: 'another access key',
      from: user,
      to: { ...user, accessKey: 'another' },
      message: 'accessKey may not change',
    },
    {
      title: 'another tenant',
      from: user,
      to: { tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
