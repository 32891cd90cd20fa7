import type { Attached } from '../reconcile/conditions.ts';
import { readTarget, writeTarget, type BindingTarget } from './binding-target.ts';

/** Policies by target, as `writeTarget` writes it. */
export type Attachments = ReadonlyMap<string, ReadonlySet<string>>;

export interface AttachmentChange {
  readonly kind: 'attach' | 'detach';
  readonly target: BindingTarget;
  readonly policies: readonly string[];
}

/** The same policies for each target; one that is named twice counts once. */
export function attachmentsOf(targets: readonly BindingTarget[], policies: readonly string[]): Attachments {
  return new Map(targets.map((target) => [writeTarget(target), new Set(policies)]));
}

export function parseAttached(attached: readonly Attached[] = []): Attachments {
  return new Map(attached.map(({ to, policies }) => [to, new Set(policies)]));
}

export function writeAttached(attachments: Attachments): readonly Attached[] {
  return [...attachments]
    .filter(([, policies]) => policies.size > 0)
    .map(([to, policies]) => ({ to, policies: [...policies].toSorted() }))
    .toSorted((a, b) => (a.to < b.to ? -1 : 1));
}

export function union(one: Attachments, other: Attachments): Attachments {
  const all = new Map<string, ReadonlySet<string>>(one);
  for (const [to, policies] of other) all.set(to, new Set([...(all.get(to) ?? []), ...policies]));
  return all;
}

/**
 * What makes the server have all that is wanted, and no more of what this binding attached before. What it never attached is others'
 * and stays, and so does what another binding wants. Attaching comes first: nobody loses a right in between that they keep.
 */
export function attachmentChanges(state: {
  readonly wanted: Attachments;
  /** What this binding attached, or may have. */
  readonly before: Attachments;
  readonly wantedByOthers: Attachments;
  readonly found: Attachments;
}): readonly AttachmentChange[] {
  const { wanted, before, wantedByOthers, found } = state;
  const has = (attachments: Attachments, to: string, policy: string) => attachments.get(to)?.has(policy) === true;
  const attach = changes('attach', wanted, (to, policy) => !has(found, to, policy));
  const detach = changes(
    'detach',
    before,
    (to, policy) => has(found, to, policy) && !has(wanted, to, policy) && !has(wantedByOthers, to, policy),
  );
  return [...attach, ...detach];
}

function changes(
  kind: AttachmentChange['kind'],
  attachments: Attachments,
  concerns: (to: string, policy: string) => boolean,
): readonly AttachmentChange[] {
  return [...attachments].flatMap(([to, all]) => {
    const target = readTarget(to);
    const policies = [...all].filter((policy) => concerns(to, policy));
    return target === undefined || policies.length === 0 ? [] : [{ kind, target, policies }];
  });
}
