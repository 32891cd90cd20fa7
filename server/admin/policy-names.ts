import type { IdentityReader, NamedDocument } from '../identities/identities.ts';
import { AdminError } from './admin-error.ts';

/** From `a,b` to its names; the order stays, spaces and repetitions go. */
export function policyNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** Rejects where there is none of that name. */
export async function existingPolicy(identities: Pick<IdentityReader, 'policy'>, name: string): Promise<NamedDocument> {
  const policy = await identities.policy(name);
  if (policy !== undefined) return policy;
  throw new AdminError('XMinioAdminNoSuchPolicy', `There is no policy ${JSON.stringify(name.slice(0, 128))}.`);
}
