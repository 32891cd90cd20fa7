import type { RuleCases, Spec } from './rule-case.ts';

const document = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::photos/*' }],
};
const policy: Spec = { tenantRef: { name: 'demo' }, document };

export const policyCases: RuleCases = {
  kind: 'Policy',
  plural: 'policies',
  good: [
    { title: 'the least', spec: policy },
    { title: 'every field', spec: { ...policy, policyName: 'photos.read', deletionPolicy: 'Retain' } },
  ],
  bad: [],
  badChanges: [
    {
      title: 'another name of the policy',
      from: policy,
      to: { ...policy, policyName: 'another' },
      message: 'policyName may not change',
    },
    {
      title: 'another tenant',
      from: policy,
      to: { ...policy, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
