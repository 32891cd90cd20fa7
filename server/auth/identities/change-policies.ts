import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { parseNewPolicy } from '../../../protocol/policy/parse-policy.ts';
import { describeTarget, type AttachmentTarget } from './subject.ts';
import { type ChangeContext, noSuchGroup, noSuchUser } from './change-users.ts';
import type { IdentityChanges, AttachmentChange } from './identities.ts';
import { IdentityError } from '../identity-error.ts';
import { checkName } from './names.ts';
import { identityKeys, type StoredPolicy, type Attachment } from './records.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Decide, IdentityView } from './transaction.ts';

/** Earlier versions that a policy record keeps. */
const maxEarlier = 10;
/** Targets that an error message names. */
const maxNamedTargets = 5;

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
          earlier: [...earlier, ...(known?.earlier ?? [])].slice(0, maxEarlier),
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
        // A policy that replaced a built-in one can be removed while it is attached: the built-in one takes its place.
        const holders: string[] = [];
        if (!builtIn) for await (const target of view.attachedTo(name)) holders.push(describeTarget(target));
        if (holders.length > 0) {
          const more = holders.length > maxNamedTargets ? ` and ${holders.length - maxNamedTargets} more` : '';
          throw new IdentityError(
            'policy-in-use',
            `The policy ${name} is attached to ${holders.slice(0, maxNamedTargets).join(', ')}${more}; detach it first.`,
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

function noSuchPolicy(name: string): IdentityError {
  return new IdentityError('no-such-policy', `There is no policy ${JSON.stringify(name.slice(0, 128))}.`);
}

type AttachmentChanges = Pick<IdentityChanges, 'attach' | 'detach' | 'changeAttached' | 'setAttached'>;

export function attachmentChanges({ change, clock }: ChangeContext): AttachmentChanges {
  const toWhatFollows = (target: AttachmentTarget, next: (now: readonly string[]) => readonly string[]) =>
    change(changing(target, next, clock));
  return {
    attach: (target, policies) =>
      toWhatFollows(target, (now) => {
        const added = policies.filter((name) => !now.includes(name));
        if (added.length === 0) throw nothingToChange(policies, 'attached to', target, 'already');
        return [...now, ...added];
      }),

    detach: (target, policies) =>
      toWhatFollows(target, (now) => {
        if (!policies.some((name) => now.includes(name))) throw nothingToChange(policies, 'attached to', target, 'not');
        return now.filter((name) => !policies.includes(name));
      }),

    changeAttached: (target, { add, remove }) =>
      toWhatFollows(target, (now) => [...now.filter((name) => !remove.includes(name)), ...add]),

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

/** A policy from an earlier release may name unknown actions. It cannot be attached to more targets. */
function checkStored({ name, document }: StoredPolicy): void {
  try {
    parseNewPolicy(document);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new S3Error(error.code, `The policy ${name} cannot be attached. ${error.message}`, { cause: error });
  }
}

/** Users and groups of a directory have no record here. */
async function checkTarget(view: IdentityView, target: AttachmentTarget): Promise<void> {
  if (target.kind === 'user' && (await view.user(target.name)) === undefined) throw noSuchUser(target.name);
  if (target.kind === 'group' && (await view.group(target.name)) === undefined) noSuchGroup(target.name);
}

function nothingToChange(
  policies: readonly string[],
  what: string,
  target: AttachmentTarget,
  how: string,
): IdentityError {
  const names = policies.length === 0 ? 'No policy is named' : `${policies.join(', ')}: ${how} ${what}`;
  return new IdentityError('nothing-to-change', `${names} ${describeTarget(target)}; nothing was changed.`);
}
