import type { PolicyBinding, Tenant } from '../api/object.ts';
import { createController, type ControllerOptions } from '../declared/create-controller.ts';
import { endpointOf } from '../declared/signed-request.ts';
import { DeclaredProblem } from '../declared/tenant-refusal.ts';
import type { DeclaredContext, DeclaredController } from '../reconcile/declared-controller.ts';
import { changeAttachment, findAttachments } from './attachments-client.ts';
import {
  attachmentChanges,
  attachmentsOf,
  parseAttached,
  union,
  writeAttached,
  type AttachmentChange,
  type Attachments,
} from './binding-changes.ts';
import { describeTarget, readTarget, targetOf } from './binding-target.ts';

/** Attaches the policies of PolicyBinding resources to whom they name, and detaches what they no longer name. */
export function createBindingController(options: ControllerOptions = {}): DeclaredController<PolicyBinding> {
  return createController(
    {
      describe: ({ metadata }) => `the binding "${metadata.name}"`,

      async changes(binding, context, now) {
        const wanted = wantedOf(binding, context.access.tenant);
        const before = parseAttached(context.status.attached);
        const all = union(before, wanted);
        const kept = writeAttached(all);
        // First, so that nothing that is attached now is ever forgotten: a later change of the resource has to find it.
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

/** What other bindings of the tenant want of those whom the tenant knows. */
function othersOf({ others, access }: DeclaredContext): Attachments {
  let all: Attachments = new Map();
  for (const other of others) {
    if (other.kind !== 'PolicyBinding') continue;
    for (const subject of other.spec.subjects) {
      try {
        all = union(all, attachmentsOf([targetOf(subject, other, access.tenant)], other.spec.policies));
      } catch (error) {
        // Its own pass tells.
        if (!(error instanceof DeclaredProblem)) throw error;
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
