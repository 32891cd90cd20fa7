import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { parseNewPolicy } from '../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { type AttachmentTarget, describeTarget } from './attachment-target.ts';
import type { Decide } from './change-identities.ts';
import { noSuchGroup } from './change-groups.ts';
import { noSuchPolicy } from './change-policies.ts';
import { type ChangeContext, noSuchUser } from './change-users.ts';
import type { AttachmentChange, IdentityChanges } from './identities.ts';
import { IdentityError } from './identity-error.ts';
import { identityKeys } from './identity-keys.ts';
import type { Attachment, StoredPolicy } from './identity-records.ts';
import type { IdentityView } from './identity-view.ts';

type AttachmentChanges = Pick<IdentityChanges, 'attach' | 'detach' | 'setAttached'>;

export function attachmentChanges({ change, clock }: ChangeContext): AttachmentChanges {
  const toWhatFollows = (target: AttachmentTarget, next: (now: readonly string[]) => readonly string[]) =>
    change(changing(target, next, clock));
  return {
    attach: (target, policies) =>
      toWhatFollows(target, (now) => {
        const added = policies.filter((name) => !now.includes(name));
        if (added.length === 0) throw nothing(policies, 'attached to', target, 'already');
        return [...now, ...added];
      }),

    detach: (target, policies) =>
      toWhatFollows(target, (now) => {
        if (!policies.some((name) => now.includes(name))) throw nothing(policies, 'attached to', target, 'not');
        return now.filter((name) => !policies.includes(name));
      }),

    setAttached: (target, policies) => toWhatFollows(target, () => policies),
  };
}

function changing(
  target: AttachmentTarget,
  next: (now: readonly string[]) => readonly string[],
  clock: () => Date,
): Decide<AttachmentChange> {
  return async (view) => {
    await checkTarget(view, target);
    const before = (await view.attachment(target))?.policies ?? [];
    const after = [...new Set(next(before))];
    const added = after.filter((name) => !before.includes(name));
    const removed = before.filter((name) => !after.includes(name));
    for (const name of added) {
      const policy = await view.policy(name);
      if (policy !== undefined) checkStored(policy);
      else if (!builtInPolicies.has(name)) throw noSuchPolicy(name);
    }
    const updatedAt = clock().getTime();
    const attachment: Attachment = { format: 1, policies: after, updatedAt };
    const key = identityKeys.attachment(target);
    return {
      batch: {
        put: [
          ...(after.length === 0 ? [] : [{ key, value: attachment }]),
          ...added.map((name) => ({ key: identityKeys.attachedTo(name, target), value: {} })),
        ],
        delete: [...(after.length === 0 ? [key] : []), ...removed.map((name) => identityKeys.attachedTo(name, target))],
      },
      result: { changed: [...added, ...removed], policies: after, updatedAt },
    };
  };
}

/** A policy of an earlier release may name what does not exist: nobody new gets it. */
function checkStored({ name, document }: StoredPolicy): void {
  try {
    parseNewPolicy(document);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new S3Error(error.code, `The policy ${name} cannot be attached. ${error.message}`, { cause: error });
  }
}

/** Whom another directory knows is not for these records to say. */
async function checkTarget(view: IdentityView, target: AttachmentTarget): Promise<void> {
  if (target.kind === 'user' && (await view.user(target.name)) === undefined) throw noSuchUser(target.name);
  if (target.kind === 'group' && (await view.group(target.name)) === undefined) noSuchGroup(target.name);
}

function nothing(policies: readonly string[], what: string, target: AttachmentTarget, how: string): IdentityError {
  const names = policies.length === 0 ? 'No policy is named' : `${policies.join(', ')}: ${how} ${what}`;
  return new IdentityError('nothing-to-change', `${names} ${describeTarget(target)}; nothing was changed.`);
}
