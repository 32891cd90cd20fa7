import {
  accessKeyKind,
  bucketKind,
  identityProviderKind,
  kmsConfigKind,
  policyBindingKind,
  policyKind,
  tenantKind,
  userKind,
  type Kind,
} from './kinds.ts';

/** Calls with each kind of resource, in the order of the documentation. */
export function eachKind<T>(visit: <Spec>(kind: Kind<Spec>) => T): readonly T[] {
  return [
    visit(tenantKind),
    visit(identityProviderKind),
    visit(kmsConfigKind),
    visit(bucketKind),
    visit(policyKind),
    visit(policyBindingKind),
    visit(userKind),
    visit(accessKeyKind),
  ];
}
