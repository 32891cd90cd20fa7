import { z } from 'zod';
import { claimAt } from '../../platform/openid/claim-at.ts';
import { matches, parsePattern } from '../../protocol/policy/wildcard.ts';

/**
 * What policies can be attached to. `claim`: everyone whose token of that provider has the claim with a value that fits; in the
 * value `*` and `?` are wild, so that `sub` of a Kubernetes token can stand for a whole namespace.
 */
export const attachmentTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), name: z.string() }),
  z.object({ kind: z.literal('group'), name: z.string() }),
  /** By distinguished name, normalized. */
  z.object({ kind: z.literal('ldap-user'), name: z.string() }),
  z.object({ kind: z.literal('ldap-group'), name: z.string() }),
  z.object({ kind: z.literal('claim'), provider: z.string(), claim: z.string(), value: z.string() }),
]);

export type AttachmentTarget = z.infer<typeof attachmentTarget>;

/** The parts of its record's key. */
export function partsOf(target: AttachmentTarget): readonly string[] {
  if (target.kind !== 'claim') return [target.kind, target.name];
  return [target.kind, target.provider, target.claim, target.value];
}

export function describeTarget(target: AttachmentTarget): string {
  switch (target.kind) {
    case 'user':
      return `the user ${target.name}`;
    case 'group':
      return `the group ${target.name}`;
    case 'ldap-user':
      return `the LDAP user ${target.name}`;
    case 'ldap-group':
      return `the LDAP group ${target.name}`;
    case 'claim':
      return `the claim ${target.claim}=${target.value} of ${target.provider}`;
    default:
      return target satisfies never;
  }
}

/** Whether the claims have what the target names; a list fits where one of its texts does, and a path leads into claims. */
export function claimFits(
  target: Extract<AttachmentTarget, { kind: 'claim' }>,
  claims: Readonly<Record<string, unknown>>,
): boolean {
  const value = claimAt(claims, target.claim);
  const pattern = parsePattern(target.value);
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.some((one) => typeof one === 'string' && matches(pattern, one));
}
