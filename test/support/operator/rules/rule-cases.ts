import { accessKeyCases, bucketCases, policyBindingCases, policyCases, userCases } from './managed-cases.ts';
import { identityProviderCases } from './identity-provider-cases.ts';
import { kmsConfigCases } from './kms-config-cases.ts';
import type { RuleCases } from './rule-case.ts';
import { tenantCases } from './tenant-cases.ts';

export { manifestOf, type RuleCases, type Spec } from './rule-case.ts';

/** The cases of every kind. */
export const ruleCases: readonly RuleCases[] = [
  tenantCases,
  identityProviderCases,
  kmsConfigCases,
  bucketCases,
  policyCases,
  policyBindingCases,
  userCases,
  accessKeyCases,
];
