import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { IdentityReader } from '../identities/identities.ts';

/** From policy names to documents. */
export interface PolicySource {
  get(name: string): Promise<PolicyDocument | undefined>;
}

/** Policies that are in memory, such as the built-in ones. */
export function fixedPolicies(policies: ReadonlyMap<string, PolicyDocument>): PolicySource {
  return { get: (name) => Promise.resolve(policies.get(name)) };
}

/** Those that are stored or built in. */
export function policiesOf(identities: Pick<IdentityReader, 'policy'>): PolicySource {
  return { get: async (name) => (await identities.policy(name))?.document };
}
