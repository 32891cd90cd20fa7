import { authorizeRequest, type Right } from './authorize.ts';
import { timeContext } from './condition-keys.ts';
import type { Access, AuthenticatedPrincipal, Principal } from './principal.ts';

/** A caller as a record keeps it, for work that goes on after the request. */
interface Asker {
  readonly kind: AuthenticatedPrincipal['kind'];
  readonly accessKey: string;
  readonly conditions: Readonly<Record<string, readonly string[]>>;
}

/** `objectId`: the object whose tags or ACL allow it. The work is about that one, or about none. */
type AskerDecision =
  { readonly kind: 'allowed'; readonly objectId: string | undefined } | { readonly kind: 'denied' | 'gone' };

/** The condition keys that are others at each time. */
const ofTime = Object.keys(timeContext(new Date(0)));

/** Returns the caller of a request with its condition keys. */
export function askerOf(
  { kind, accessKey }: AuthenticatedPrincipal,
  conditions: Readonly<Record<string, readonly string[]>>,
): Asker {
  const kept = Object.entries(conditions).filter(([name]) => !ofTime.includes(name));
  return { kind, accessKey, conditions: Object.fromEntries(kept) };
}

/**
 * Returns a function that decides rights of a caller as they are at each call. `gone`: the credentials were removed or disabled, or have
 * expired.
 */
export function decideForAsker(
  access: Pick<Access, 'credentials' | 'authorize'>,
  clock: () => Date,
): (asker: Asker, right: Right) => Promise<AskerDecision> {
  return async ({ kind, accessKey, conditions }, right) => {
    // Root has other credentials after a rotation, and stays root.
    const principal: Principal | undefined =
      kind === 'root' ? { kind, accessKey } : (await access.credentials(accessKey))?.principal;
    // A user of the name of a removed access key is another caller.
    if (principal?.kind !== kind) return { kind: 'gone' };
    const context = { principal, conditions: { ...conditions, ...timeContext(clock()) } };
    const decided = await authorizeRequest(access, context, right);
    if (decided?.decision.kind !== 'allow') return { kind: 'denied' };
    return { kind: 'allowed', objectId: decided.decision.objectId };
  };
}
