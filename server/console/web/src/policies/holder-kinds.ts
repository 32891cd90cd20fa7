import type { PolicyHolder } from '../../../contract/identity-answers.ts';

/** What those are called whom policies are attached to. */
export const holderKinds: Readonly<Record<PolicyHolder['kind'], string>> = {
  user: 'User',
  group: 'Group',
  claim: 'Claim of a provider',
  'ldap-user': 'LDAP user',
  'ldap-group': 'LDAP group',
};

export function describeHolder(holder: PolicyHolder): string {
  if (holder.kind === 'claim') return `the claim ${holder.claim}=${holder.value} of ${holder.provider}`;
  return `the ${holderKinds[holder.kind].replace(/^(?=[UG])./, (letter) => letter.toLowerCase())} ${holder.name}`;
}
