import { accessKeyCases } from './access-key-cases.ts';
import { bucketCases } from './bucket-cases.ts';
import { identityProviderCases } from './identity-provider-cases.ts';
import { kmsConfigCases } from './kms-config-cases.ts';
import { policyBindingCases } from './policy-binding-cases.ts';
import { policyCases } from './policy-cases.ts';
import type { RuleCases } from './rule-case.ts';
import { tenantCases } from './tenant-cases.ts';
import { userCases } from './user-cases.ts';

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
