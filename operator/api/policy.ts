import { z } from 'zod';
import { deletionPolicy, policyDocument, policyName, tenantRef } from './fields.ts';
import type { Rules } from './rule.ts';

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
