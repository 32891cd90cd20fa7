import { providerId } from '../api/identity-provider.ts';
import type { PolicyBinding, Tenant } from '../api/object.ts';
import type { BindingSubject } from '../api/policy-binding.ts';
import { DeclaredProblem } from '../declared/tenant-refusal.ts';
import { clusterProvider } from '../render/tenant-service-accounts.ts';

/** What policies are attached to, as the server has it. */
export type BindingTarget =
  | { readonly kind: 'user' | 'group'; readonly name: string }
  | { readonly kind: 'claim'; readonly provider: string; readonly claim: string; readonly value: string };

/** The target of a subject. Errors with `DeclaredProblem` where its tenant does not know whom it names. */
export function targetOf(subject: BindingSubject, { metadata }: PolicyBinding, tenant: Tenant): BindingTarget {
  const { user, group, claim, serviceAccount } = subject;
  if (user !== undefined) return { kind: 'user', name: user };
  if (group !== undefined) return { kind: 'group', name: group };
  if (claim !== undefined) {
    const { identityProvider, name, value } = claim;
    if (!(tenant.spec.identityProviders ?? []).some((named) => named.name === identityProvider)) {
      throw new DeclaredProblem(
        'IdentityProviderNotFound',
        `spec.identityProviders of Tenant ${tenant.metadata.name} does not name ${identityProvider}, whose claim ${name} is bound: add it there, or correct the name`,
      );
    }
    return { kind: 'claim', provider: providerId(identityProvider), claim: name, value };
  }
  if (serviceAccount !== undefined) {
    if (tenant.spec.kubernetesServiceAccounts === undefined) {
      throw new DeclaredProblem(
        'ServiceAccountsNotAccepted',
        `Tenant ${tenant.metadata.name} takes no tokens of Kubernetes service accounts: set its spec.kubernetesServiceAccounts.audience`,
      );
    }
    const namespace = serviceAccount.namespace ?? metadata.namespace ?? 'default';
    const value = `system:serviceaccount:${namespace}:${serviceAccount.name}`;
    return { kind: 'claim', provider: clusterProvider, claim: 'sub', value };
  }
  throw new DeclaredProblem('InvalidSpec', 'a subject names nobody');
}

/** As the status keeps it: `user=ann`, `provider=COMPANY&claim=groups&value=readers`. */
export function writeTarget(target: BindingTarget): string {
  const { kind } = target;
  const fields =
    kind === 'claim'
      ? { provider: target.provider, claim: target.claim, value: target.value }
      : { [kind]: target.name };
  return new URLSearchParams(fields).toString();
}

/** The reverse of `writeTarget`; undefined for what it never wrote. */
export function readTarget(text: string): BindingTarget | undefined {
  const fields = new URLSearchParams(text);
  for (const kind of ['user', 'group'] as const) {
    const name = fields.get(kind);
    if (name !== null) return { kind, name };
  }
  const [provider, claim, value] = [fields.get('provider'), fields.get('claim'), fields.get('value')];
  if (provider === null || claim === null || value === null) return undefined;
  return { kind: 'claim', provider, claim, value };
}

export function describeTarget(target: BindingTarget): string {
  if (target.kind !== 'claim') return `the ${target.kind} "${target.name}"`;
  return `the claim ${target.claim}="${target.value}" of ${target.provider}`;
}
