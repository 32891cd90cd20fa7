import { ResourceError } from '../../api/resource-error.ts';
import { providerId } from '../../api/identity-provider.ts';
import type { PolicyBinding, Tenant } from '../../api/object.ts';
import type { BindingSubject } from '../../api/policy.ts';
import { clusterProvider } from '../../render/render-identity-provider.ts';
import type { Attached } from '../conditions.ts';

/** The policies attached at the server. */
export type BindingTarget =
  | { readonly kind: 'user' | 'group'; readonly name: string }
  | { readonly kind: 'claim'; readonly provider: string; readonly claim: string; readonly value: string };

/** The target of a subject. Errors with `ResourceError` where its tenant does not know whom it names. */
export function targetOf(subject: BindingSubject, { metadata }: PolicyBinding, tenant: Tenant): BindingTarget {
  const { user, group, claim, serviceAccount } = subject;
  if (user !== undefined) return { kind: 'user', name: user };
  if (group !== undefined) return { kind: 'group', name: group };
  if (claim !== undefined) {
    const { identityProvider, name, value } = claim;
    if (!(tenant.spec.identityProviders ?? []).some((named) => named.name === identityProvider)) {
      throw new ResourceError(
        'IdentityProviderNotFound',
        `spec.identityProviders of Tenant ${tenant.metadata.name} does not name ${identityProvider}, whose claim ${name} is bound: add it there, or correct the name`,
      );
    }
    return { kind: 'claim', provider: providerId(identityProvider), claim: name, value };
  }
  if (serviceAccount !== undefined) {
    if (tenant.spec.kubernetesServiceAccounts === undefined) {
      throw new ResourceError(
        'ServiceAccountsNotAccepted',
        `Tenant ${tenant.metadata.name} takes no tokens of Kubernetes service accounts: set its spec.kubernetesServiceAccounts.audience`,
      );
    }
    const namespace = serviceAccount.namespace ?? metadata.namespace ?? 'default';
    const value = `system:serviceaccount:${namespace}:${serviceAccount.name}`;
    return { kind: 'claim', provider: clusterProvider, claim: 'sub', value };
  }
  throw new ResourceError('InvalidSpec', 'a subject names nobody');
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

/** Policies by target, as `writeTarget` writes it. */
export type Attachments = ReadonlyMap<string, ReadonlySet<string>>;

export interface AttachmentChange {
  readonly kind: 'attach' | 'detach';
  readonly target: BindingTarget;
  readonly policies: readonly string[];
}

/** The same policies for each target; one that is named twice counts once. */
export function attachmentsOf(targets: readonly BindingTarget[], policies: readonly string[]): Attachments {
  return new Map(targets.map((target) => [writeTarget(target), new Set(policies)]));
}

export function parseAttached(attached: readonly Attached[] = []): Attachments {
  return new Map(attached.map(({ to, policies }) => [to, new Set(policies)]));
}

export function writeAttached(attachments: Attachments): readonly Attached[] {
  return [...attachments]
    .filter(([, policies]) => policies.size > 0)
    .map(([to, policies]) => ({ to, policies: [...policies].toSorted() }))
    .toSorted((a, b) => (a.to < b.to ? -1 : 1));
}

export function union(one: Attachments, other: Attachments): Attachments {
  const all = new Map<string, ReadonlySet<string>>(one);
  for (const [to, policies] of other) all.set(to, new Set([...(all.get(to) ?? []), ...policies]));
  return all;
}

/**
 * Returns the changes after which the server has all that is wanted, and nothing else that this binding attached before. Attachments of
 * others stay, and so does what another binding wants. Attaching comes first: no user loses a right in between that they keep.
 */
export function attachmentChanges(state: {
  readonly wanted: Attachments;
  /** The attachments that this binding made, or may have made. */
  readonly before: Attachments;
  readonly wantedByOthers: Attachments;
  readonly found: Attachments;
}): readonly AttachmentChange[] {
  const { wanted, before, wantedByOthers, found } = state;
  const has = (attachments: Attachments, to: string, policy: string) => attachments.get(to)?.has(policy) === true;
  const attach = changes('attach', wanted, (to, policy) => !has(found, to, policy));
  const detach = changes(
    'detach',
    before,
    (to, policy) => has(found, to, policy) && !has(wanted, to, policy) && !has(wantedByOthers, to, policy),
  );
  return [...attach, ...detach];
}

function changes(
  kind: AttachmentChange['kind'],
  attachments: Attachments,
  concerns: (to: string, policy: string) => boolean,
): readonly AttachmentChange[] {
  return [...attachments].flatMap(([to, all]) => {
    const target = readTarget(to);
    const policies = [...all].filter((policy) => concerns(to, policy));
    return target === undefined || policies.length === 0 ? [] : [{ kind, target, policies }];
  });
}
