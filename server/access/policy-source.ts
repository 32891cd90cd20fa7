import type { PolicyDocument } from '../../protocol/policy/document.ts';

/** From policy names to documents: the built-in ones now, stored ones with the identity issue. */
export interface PolicySource {
  get(name: string): Promise<PolicyDocument | undefined>;
}

/** Policies that are in memory, such as the built-in ones. */
export function fixedPolicies(policies: ReadonlyMap<string, PolicyDocument>): PolicySource {
  return { get: (name) => Promise.resolve(policies.get(name)) };
}
