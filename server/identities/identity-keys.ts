import { sealedKey, sealedWithin } from '../encryption/sealed-records.ts';
import type { Key } from '../store/record-store.ts';
import { type AttachmentTarget, partsOf } from './attachment-target.ts';

const room = 'iam';

/** Where each record of an identity lies. */
export const identityKeys = {
  /** Put by every change: its revision tells whether anything changed. */
  head: sealedKey(room, 'head'),
  user: (accessKey: string) => sealedKey(room, 'user', accessKey),
  group: (name: string) => sealedKey(room, 'group', name),
  /** That a user is a member of a group; the group's own list is the truth. */
  membership: (user: string, group: string) => sealedKey(room, 'membership', user, group),
  policy: (name: string) => sealedKey(room, 'policy', name),
  attachment: (target: AttachmentTarget) => sealedKey(room, 'attachment', ...partsOf(target)),
  /** That a policy is attached: for "who has it?". */
  attachedTo: (policy: string, target: AttachmentTarget) => sealedKey(room, 'attached-to', policy, ...partsOf(target)),
  serviceAccount: (accessKey: string) => sealedKey(room, 'service-account', accessKey),
  /** That a service account is owned by somebody. */
  owned: (owner: string, accessKey: string) => sealedKey(room, 'owned', owner, accessKey),
} satisfies Record<string, Key | ((...parts: never[]) => Key)>;

export const identityRanges = {
  users: sealedWithin(room, 'user'),
  groups: sealedWithin(room, 'group'),
  memberships: (user: string) => sealedWithin(room, 'membership', user),
  policies: sealedWithin(room, 'policy'),
  attachments: sealedWithin(room, 'attachment'),
  attachmentsOf: (kind: AttachmentTarget['kind']) => sealedWithin(room, 'attachment', kind),
  claims: (provider: string) => sealedWithin(room, 'attachment', 'claim', provider),
  attachedTo: (policy: string) => sealedWithin(room, 'attached-to', policy),
  serviceAccounts: sealedWithin(room, 'service-account'),
  owned: (owner: string) => sealedWithin(room, 'owned', owner),
} satisfies Record<string, object>;
