import { ownerOf, parentName } from '../identities/subject.ts';
import type { Caller } from './caller.ts';
import { callerSubject } from './own-account.ts';

export function callerOwner({ principal }: Caller): string {
  return ownerOf(callerSubject(principal));
}

/** Whom clients mean by a name: the caller where they give none, a user, root, or a federated person by hash or DN. */
export async function ownerNamed(call: Caller, name: string | undefined): Promise<string> {
  const { identities, root } = call.services;
  if (name === undefined || name === parentName(callerSubject(call.principal), root.user)) return callerOwner(call);
  if (name === root.user) return ownerOf({ kind: 'root' });
  // No name of a federated person is one that owners are called by here.
  const federated = !/^(root$|user:)/.test(name) && (await identities.user(name)) === undefined;
  return federated ? name : ownerOf({ kind: 'user', name });
}
