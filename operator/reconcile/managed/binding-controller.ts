import { ResourceError } from '../../api/resource-error.ts';
import { z } from 'zod';
import { callAdmin, unless } from './admin-request.ts';
import { type TenantEndpoint, endpointOf } from './signed-request.ts';
import {
  type AttachmentChange,
  type Attachments,
  writeTarget,
  type BindingTarget,
  attachmentChanges,
  attachmentsOf,
  parseAttached,
  union,
  writeAttached,
  describeTarget,
  readTarget,
  targetOf,
} from './binding-changes.ts';
import type { PolicyBinding, Tenant } from '../../api/object.ts';
import { createController, type ControllerOptions } from './create-controller.ts';
import type { ManagedContext, ManagedController } from './controller.ts';

const policies = z.array(z.string());
const entities = z.object({
  userMappings: z.array(z.object({ user: z.string(), policies })).optional(),
  groupMappings: z.array(z.object({ group: z.string(), policies })).optional(),
});
const claims = z.object({
  claims: z.array(z.object({ provider: z.string(), claim: z.string(), value: z.string(), policies })),
});

/** Reads the policies that are attached to these targets. */
async function findAttachments(
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

/** Attaches or detaches policies. A change that is already made is not an error, nor is a detach from a user or group that is gone. */
async function changeAttachment(
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

/** Makes the controller that attaches the policies of PolicyBindings to their subjects, and detaches the ones that are no longer named. */
export function createBindingController(options: ControllerOptions = {}): ManagedController<PolicyBinding> {
  return createController(
    {
      describe: ({ metadata }) => `the binding "${metadata.name}"`,

      async changes(binding, context, now) {
        const wanted = wantedOf(binding, context.access.tenant);
        const before = parseAttached(context.status.attached);
        const all = union(before, wanted);
        const kept = writeAttached(all);
        // Write the status before the change, so that a later change of the resource knows everything that may be attached.
        if (JSON.stringify(kept) !== JSON.stringify(writeAttached(before))) await context.remember({ attached: kept });
        const endpoint = endpointOf(context.access);
        const found = await findAttachments(endpoint, targetsOf(all), now);
        const changes = attachmentChanges({ wanted, before, wantedByOthers: othersOf(context), found });
        return changes.map((change) => ({
          difference: describe(change),
          independent: true,
          make: () => changeAttachment(endpoint, change, now),
        }));
      },

      status: (binding, { access }) => ({ attached: writeAttached(wantedOf(binding, access.tenant)) }),

      async remove(_, context, now) {
        const before = parseAttached(context.status.attached);
        const endpoint = endpointOf(context.access);
        const found = await findAttachments(endpoint, targetsOf(before), now);
        const wanted: Attachments = new Map();
        const changes = attachmentChanges({ wanted, before, wantedByOthers: othersOf(context), found });
        for (const change of changes) await changeAttachment(endpoint, change, now);
        return undefined;
      },
    },
    options,
  );
}

function wantedOf(binding: PolicyBinding, tenant: Tenant): Attachments {
  const { subjects, policies } = binding.spec;
  return attachmentsOf(
    subjects.map((subject) => targetOf(subject, binding, tenant)),
    policies,
  );
}

/** Returns the attachments that other bindings of the tenant want. */
function othersOf({ others, access }: ManagedContext): Attachments {
  let all: Attachments = new Map();
  for (const other of others) {
    if (other.kind !== 'PolicyBinding') continue;
    for (const subject of other.spec.subjects) {
      try {
        all = union(all, attachmentsOf([targetOf(subject, other, access.tenant)], other.spec.policies));
      } catch (error) {
        // The reconcile of that binding reports the problem.
        if (!(error instanceof ResourceError)) throw error;
      }
    }
  }
  return all;
}

function targetsOf(attachments: Attachments) {
  return [...attachments.keys()].flatMap((to) => readTarget(to) ?? []);
}

function describe({ kind, target, policies }: AttachmentChange): string {
  const names = policies.join(', ');
  const is = kind === 'attach' ? 'not attached' : 'still attached';
  return `${names}: ${is} to ${describeTarget(target)}`;
}
