import { z } from 'zod';
import type { AttachmentTarget } from '../identities/attachment-target.ts';
import { AdminError } from './admin-error.ts';
import type { AdminCall } from './route.ts';

export const policyList = z.array(z.string()).min(1);

/** The body of `policy/attach` and `policy/detach`. */
export const association = z.object({
  policies: policyList,
  user: z.string().optional(),
  group: z.string().optional(),
});

/** Whom a body names, where it names one of both. */
export function userOrGroup({
  user = '',
  group = '',
}: {
  readonly user?: string | undefined;
  readonly group?: string | undefined;
}): { readonly kind: 'user' | 'group'; readonly name: string } {
  if ((user === '') === (group === '')) {
    throw new AdminError('XCofferInvalidRequest', 'Name either a user or a group to attach policies to.');
  }
  return user === '' ? { kind: 'group', name: group } : { kind: 'user', name: user };
}

/** `attach` or `detach`: the first group of the route's path. */
export function isAttaching({ parts }: AdminCall): boolean {
  return parts[0] === 'attach';
}

export interface ChangedAssociation {
  readonly policiesAttached?: readonly string[];
  readonly policiesDetached?: readonly string[];
  readonly updatedAt: string;
}

/** Attaches or detaches, as the path says, and answers what was changed by it. */
export async function changeAssociation(
  call: AdminCall,
  target: AttachmentTarget,
  policies: readonly string[],
): Promise<ChangedAssociation> {
  const { identities } = call.services;
  const attaching = isAttaching(call);
  const { changed, updatedAt } = await (attaching
    ? identities.attach(target, policies)
    : identities.detach(target, policies));
  return {
    ...(attaching ? { policiesAttached: changed } : { policiesDetached: changed }),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
