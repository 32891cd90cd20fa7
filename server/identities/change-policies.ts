import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { parseNewPolicy } from '../../protocol/policy/parse-policy.ts';
import { describeTarget } from './attachment-target.ts';
import type { ChangeContext } from './change-users.ts';
import type { IdentityChanges } from './identities.ts';
import { IdentityError } from './identity-error.ts';
import { identityKeys } from './identity-keys.ts';
import { checkName } from './identity-names.ts';
import type { StoredPolicy } from './identity-records.ts';

/** Earlier documents that a policy remembers. */
const mostEarlier = 10;
/** Targets that a refusal names. */
const mostNamed = 5;

export function policyChanges({ change, clock }: ChangeContext): Pick<IdentityChanges, 'putPolicy' | 'removePolicy'> {
  return {
    putPolicy: async (name, json, expected) => {
      checkName('policy', name);
      parseNewPolicy(json);
      return change(async (view) => {
        const known = await view.policy(name);
        if (expected !== undefined && expected.updatedAt !== known?.updatedAt) throw changedMeanwhile(name, known);
        const now = clock().getTime();
        const earlier = known === undefined ? [] : [{ document: known.document, updatedAt: known.updatedAt }];
        const policy: StoredPolicy = {
          format: 1,
          name,
          document: json,
          createdAt: known?.createdAt ?? now,
          updatedAt: now,
          earlier: [...earlier, ...(known?.earlier ?? [])].slice(0, mostEarlier),
        };
        return { batch: { put: [{ key: identityKeys.policy(name), value: policy }] }, result: policy };
      });
    },

    removePolicy: (name) =>
      change(async (view) => {
        const builtIn = builtInPolicies.has(name);
        if ((await view.policy(name)) === undefined) {
          if (builtIn)
            throw new IdentityError('policy-built-in', `The policy ${name} is built in and cannot be removed.`);
          throw noSuchPolicy(name);
        }
        // What replaced a built-in policy may go while it is attached: the built-in one takes its place.
        const holders: string[] = [];
        if (!builtIn) for await (const target of view.attachedTo(name)) holders.push(describeTarget(target));
        if (holders.length > 0) {
          const more = holders.length > mostNamed ? ` and ${holders.length - mostNamed} more` : '';
          throw new IdentityError(
            'policy-in-use',
            `The policy ${name} is attached to ${holders.slice(0, mostNamed).join(', ')}${more}; detach it first.`,
          );
        }
        return { batch: { delete: [identityKeys.policy(name)] }, result: undefined };
      }),
  };
}

function changedMeanwhile(name: string, known: StoredPolicy | undefined): IdentityError {
  const what =
    known === undefined
      ? 'was removed since you read it'
      : `is there already, as it was saved at ${new Date(known.updatedAt).toISOString()}: look at that first`;
  return new IdentityError('policy-changed', `The policy ${name} ${what}. Nothing was changed.`);
}

export function noSuchPolicy(name: string): IdentityError {
  return new IdentityError('no-such-policy', `There is no policy ${JSON.stringify(name.slice(0, 128))}.`);
}
