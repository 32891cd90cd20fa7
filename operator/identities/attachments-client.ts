import { z } from 'zod';
import { callAdmin } from '../declared/admin-request.ts';
import type { TenantEndpoint } from '../declared/signed-request.ts';
import type { AttachmentChange, Attachments } from './binding-changes.ts';
import { writeTarget, type BindingTarget } from './binding-target.ts';
import { unless } from './unless.ts';

const policies = z.array(z.string());
const entities = z.object({
  userMappings: z.array(z.object({ user: z.string(), policies })).optional(),
  groupMappings: z.array(z.object({ group: z.string(), policies })).optional(),
});
const claims = z.object({
  claims: z.array(z.object({ provider: z.string(), claim: z.string(), value: z.string(), policies })),
});

/** What is attached to these targets now. */
export async function findAttachments(
  endpoint: TenantEndpoint,
  targets: readonly BindingTarget[],
  now: () => Date,
): Promise<Attachments> {
  const found = new Map<string, ReadonlySet<string>>();
  const named = targets.filter((target) => target.kind !== 'claim');
  if (named.length > 0) {
    const query = new URLSearchParams(named.map(({ kind, name }) => [kind, name]));
    const call = { method: 'GET', path: 'v3/idp/builtin/policy-entities', query, sealed: 'answer' } as const;
    const { userMappings = [], groupMappings = [] } = entities.parse(await callAdmin(endpoint, call, now));
    for (const { user, policies: of } of userMappings)
      found.set(writeTarget({ kind: 'user', name: user }), new Set(of));
    for (const { group, policies: of } of groupMappings) {
      found.set(writeTarget({ kind: 'group', name: group }), new Set(of));
    }
  }
  if (targets.some(({ kind }) => kind === 'claim')) {
    const call = { method: 'GET', path: 'coffer/v1/claim-policy', sealed: 'answer' } as const;
    const answer = claims.parse(await callAdmin(endpoint, call, now));
    for (const { policies: of, ...claim } of answer.claims) {
      found.set(writeTarget({ kind: 'claim', ...claim }), new Set(of));
    }
  }
  return found;
}

/** What somebody else did meanwhile is done; whoever is gone has nothing attached any more. */
export async function changeAttachment(
  endpoint: TenantEndpoint,
  { kind, target, policies: names }: AttachmentChange,
  now: () => Date,
): Promise<void> {
  const call =
    target.kind === 'claim'
      ? {
          path: `coffer/v1/claim-policy/${kind}`,
          body: { provider: target.provider, claim: target.claim, value: target.value, policies: names },
        }
      : { path: `v3/idp/builtin/policy/${kind}`, body: { [target.kind]: target.name, policies: names } };
  const done = ['XMinioAdminPolicyChangeAlreadyApplied'];
  const gone = ['XMinioAdminNoSuchUser', 'XMinioAdminNoSuchGroup'];
  await unless(
    kind === 'attach' ? done : [...done, ...gone],
    callAdmin(endpoint, { method: 'POST', sealed: 'both', ...call }, now),
  );
}
