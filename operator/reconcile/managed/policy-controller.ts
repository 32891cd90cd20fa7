import { z } from 'zod';
import type { Policy } from '../../api/object.ts';
import { callAdmin, unless } from './admin-request.ts';
import { createController, type ControllerOptions, sameDocument } from './create-controller.ts';
import { endpointOf } from './signed-request.ts';
import type { ManagedContext, ManagedController } from './controller.ts';

/** Built-in policies were never made. */
const found = z.object({ Policy: z.unknown(), CreateDate: z.string().optional() });

/** Makes IAM policies of tenants what their Policy resources say. */
export function createPolicyController(options: ControllerOptions = {}): ManagedController<Policy> {
  return createController(
    {
      describe: (policy) => `the policy "${policyNameOf(policy)}"`,

      async changes(policy, context, now) {
        const { document } = policy.spec;
        const query = { name: policyNameOf(policy) };
        const known = await find(policy, context, now);
        if (known !== undefined && sameDocument(known.Policy, document)) return [];
        const difference = known === undefined ? 'there is no such policy' : 'the document of the policy differs';
        const call = { method: 'PUT', path: 'v3/add-canned-policy', query, body: document } as const;
        return [{ difference, make: () => callAdmin(endpointOf(context.access), call, now) }];
      },

      status: (policy) => ({ policyName: policyNameOf(policy) }),

      async remove(policy, context, now) {
        // A built-in policy that nothing replaces any more stays: it was never this resource's.
        if ((await find(policy, context, now))?.CreateDate === undefined) return undefined;
        const call = {
          method: 'DELETE',
          path: 'v3/remove-canned-policy',
          query: { name: policyNameOf(policy) },
        } as const;
        await callAdmin(endpointOf(context.access), call, now);
        return undefined;
      },
    },
    options,
  );
}

/** The name of the policy that a resource is about. */
function policyNameOf({ spec, metadata }: Policy): string {
  return spec.policyName ?? metadata.name;
}

async function find(policy: Policy, { access }: ManagedContext, now: () => Date) {
  const call = { method: 'GET', path: 'v3/info-canned-policy', query: { name: policyNameOf(policy), v: '2' } } as const;
  const answer = await unless(['XMinioAdminNoSuchPolicy'], callAdmin(endpointOf(access), call, now));
  return answer === undefined ? undefined : found.parse(answer);
}
