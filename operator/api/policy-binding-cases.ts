import type { RuleCases, Spec } from './rule-case.ts';

const binding: Spec = { tenantRef: { name: 'demo' }, policies: ['readonly'], subjects: [{ user: 'ann' }] };

export const policyBindingCases: RuleCases = {
  kind: 'PolicyBinding',
  plural: 'policybindings',
  good: [
    { title: 'the least', spec: binding },
    {
      title: 'every field',
      spec: {
        ...binding,
        policies: ['readonly', 'photos'],
        subjects: [
          { user: 'ann' },
          { group: 'Readers of photos' },
          { claim: { identityProvider: 'company', name: 'resource_access/coffer/roles', value: 'read-*' } },
          { serviceAccount: { name: 'backup' } },
          { serviceAccount: { namespace: 'apps', name: '*' } },
        ],
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [
    {
      title: 'a subject of two kinds',
      spec: { ...binding, subjects: [{ user: 'ann', group: 'readers' }] },
      message: 'each of subjects has exactly one of user, group, claim, serviceAccount',
    },
    {
      title: 'a subject of no kind',
      spec: { ...binding, subjects: [{ user: 'ann' }, {}] },
      message: 'each of subjects has exactly one of user, group, claim, serviceAccount',
    },
  ],
  badChanges: [
    {
      title: 'another tenant',
      from: binding,
      to: { ...binding, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
