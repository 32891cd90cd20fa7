import { serializePolicy } from '../../protocol/policy/serialize-policy.ts';
import { AdminError } from './admin-error.ts';
import type { Caller } from './caller.ts';
import { boundaryOf, isOwn } from './own-account.ts';
import type { AccountSubject } from './service-account-target.ts';

/** A key that narrowed credentials make for their owner is narrowed alike: nobody gives more than they have. */
export function policyOfNewKey(
  caller: Caller,
  subject: AccountSubject,
  policy: string | undefined,
): string | undefined {
  const boundary = boundaryOf(caller.principal);
  if (boundary === undefined || !isOwn(caller, subject)) return policy;
  if (policy === undefined) return serializePolicy(boundary);
  throw new AdminError(
    'XCofferInvalidRequest',
    'These credentials are narrowed by a policy, and keys made with them carry the same one: leave the policy out.',
  );
}
