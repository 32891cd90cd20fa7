import { z } from 'zod';
import { deletionPolicy, policyDocument, policyName, tenantRef, accessKeyName, objectName } from './fields.ts';
import { type Rules, celGiven, given } from './rule.ts';

/** An IAM policy of a tenant. */
export const policySpec = z.strictObject({
  tenantRef: tenantRef.describe('Where the policy is.'),
  policyName: policyName.optional().describe('Name of the policy; that of this resource without it.'),
  document: policyDocument.describe('The policy document, {"Version": …, "Statement": […]}.'),
  deletionPolicy: deletionPolicy('Delete').describe(
    'What becomes of the policy when this resource is deleted. One that is attached is not deleted before it is detached.',
  ),
});
export type PolicySpec = z.output<typeof policySpec>;

export const policyRules: Rules<PolicySpec> = {
  always: [],
  onChange: [
    {
      field: 'spec.policyName',
      message: 'policyName may not change: the policy of the old name would stay behind, attached as it is',
      cel: 'has(self.policyName) == has(oldSelf.policyName) && (!has(self.policyName) || self.policyName == oldSelf.policyName)',
      holds: (spec, old) => spec.policyName === old.policyName,
    },
    {
      field: 'spec.tenantRef',
      message: 'tenantRef may not change: the policy would stay behind',
      cel: 'self.tenantRef.name == oldSelf.tenantRef.name',
      holds: (spec, old) => spec.tenantRef.name === old.tenantRef.name,
    },
  ],
};

const subject = z.strictObject({
  user: accessKeyName.optional().describe('A user of the tenant, by access key.'),
  group: z.string().min(1).max(128).optional().describe('A group of the tenant.'),
  claim: z
    .strictObject({
      identityProvider: objectName.describe('Name of an IdentityProvider that the Tenant names.'),
      name: z.string().min(1).max(128).describe('The claim, or a path with / into claims.'),
      value: z.string().min(1).max(256).describe('Its value, or one of its values; * and ? are wild.'),
    })
    .optional()
    .describe('Everyone whose token of a provider has this claim.'),
  serviceAccount: z
    .strictObject({
      namespace: objectName.optional().describe('Its namespace; that of this resource without it.'),
      name: z
        .string()
        .min(1)
        .max(253)
        .regex(/^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/)
        .describe('Its name, or * for every one of the namespace.'),
    })
    .optional()
    .describe('Pods that run as a Kubernetes service account. The Tenant needs kubernetesServiceAccounts.'),
});
export type BindingSubject = z.output<typeof subject>;

/** Policies for users, groups, claims and service accounts. Attachments of others to the same subjects stay. */
export const policyBindingSpec = z.strictObject({
  tenantRef: tenantRef.describe('Where it holds.'),
  policies: z
    .array(policyName)
    .min(1)
    .max(32)
    .describe('Names of policies of the tenant: built-in ones, those of Policy resources, and any others.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  subjects: z.array(subject).min(1).max(64).describe('Who has them.').meta({ 'x-kubernetes-list-type': 'atomic' }),
  deletionPolicy: deletionPolicy('Delete').describe(
    'Whether the policies are detached when this resource is deleted. What another PolicyBinding gives too stays.',
  ),
});
export type PolicyBindingSpec = z.output<typeof policyBindingSpec>;

export const policyBindingRules: Rules<PolicyBindingSpec> = {
  always: [
    {
      field: 'spec.subjects',
      message: 'each of subjects has exactly one of user, group, claim, serviceAccount',
      cel: `self.subjects.all(s, ${celGiven('s.user', 's.group', 's.claim', 's.serviceAccount')} == 1)`,
      holds: ({ subjects }) =>
        subjects.every(({ user, group, claim, serviceAccount }) => given(user, group, claim, serviceAccount) === 1),
    },
    {
      field: 'spec.policies',
      message: 'policies may not name one twice',
      cel: 'self.policies.all(p, self.policies.exists_one(q, q == p))',
      holds: ({ policies }) => new Set(policies).size === policies.length,
    },
  ],
  onChange: [
    {
      field: 'spec.tenantRef',
      message: 'tenantRef may not change: what is attached there would stay behind',
      cel: 'self.tenantRef.name == oldSelf.tenantRef.name',
      holds: (spec, old) => spec.tenantRef.name === old.tenantRef.name,
    },
  ],
};
