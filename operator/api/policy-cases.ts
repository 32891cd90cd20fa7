import type { RuleCases, Spec } from './rule-case.ts';

const statement = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::photos/*' };
const document = { Version: '2012-10-17', Statement: [statement] };
const policy: Spec = { tenantRef: { name: 'demo' }, document };

export const policyCases: RuleCases = {
  kind: 'Policy',
  plural: 'policies',
  good: [
    { title: 'the least', spec: policy },
    { title: 'a lone statement', spec: { ...policy, document: { ...document, Statement: statement } } },
    { title: 'every field', spec: { ...policy, policyName: 'photos.read', deletionPolicy: 'Retain' } },
  ],
  bad: [
    {
      title: 'a statement that neither allows nor denies',
      spec: { ...policy, document: { ...document, Statement: [{ ...statement, Effect: 'Permit' }] } },
      message: 'supported values: "Allow", "Deny"',
    },
    {
      title: 'a lone statement that neither allows nor denies',
      spec: { ...policy, document: { ...document, Statement: { ...statement, Effect: 'allow' } } },
      message: 'supported values: "Allow", "Deny"',
    },
  ],
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
