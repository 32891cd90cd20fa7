import { z } from 'zod';
import { subjectSchema, type AttachmentTarget, partsOf } from './subject.ts';
import { sealedKey, sealedWithin } from '../../encryption/sealed-records.ts';
import type { Key } from '../../store/record-store.ts';

/** Milliseconds since 1970. */
const time = z.number();
const status = z.enum(['enabled', 'disabled']);

export type Status = z.infer<typeof status>;

export const userSchema = z.object({
  format: z.literal(1),
  accessKey: z.string(),
  secretKey: z.string(),
  status,
  updatedAt: time,
});

export const groupSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  members: z.array(z.string()),
  status,
  updatedAt: time,
});

export const policySchema = z.object({
  format: z.literal(1),
  name: z.string(),
  /** JSON as the administrator sent it. Each release parses it anew. */
  document: z.string(),
  createdAt: time,
  updatedAt: time,
  /** Earlier versions, the newest first; their number is bounded. */
  earlier: z.array(z.object({ document: z.string(), updatedAt: time })),
});

export const attachmentSchema = z.object({
  format: z.literal(1),
  policies: z.array(z.string()),
  updatedAt: time,
});

export const serviceAccountSchema = z.object({
  format: z.literal(1),
  accessKey: z.string(),
  secretKey: z.string(),
  subject: subjectSchema,
  status,
  /** The permission boundary as JSON; without it the account has all rights of its subject. */
  policy: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  expiration: time.optional(),
  createdAt: time,
  updatedAt: time,
});

export type User = z.infer<typeof userSchema>;
export type Group = z.infer<typeof groupSchema>;
export type StoredPolicy = z.infer<typeof policySchema>;
export type Attachment = z.infer<typeof attachmentSchema>;
export type ServiceAccount = z.infer<typeof serviceAccountSchema>;

const room = 'iam';

/** The keys of the records of identities. */
export const identityKeys = {
  /** Every change puts this record, so its revision shows changes. */
  head: sealedKey(room, 'head'),
  user: (accessKey: string) => sealedKey(room, 'user', accessKey),
  group: (name: string) => sealedKey(room, 'group', name),
  /** An index of groups by member; the list in the group's record is authoritative. */
  membership: (user: string, group: string) => sealedKey(room, 'membership', user, group),
  policy: (name: string) => sealedKey(room, 'policy', name),
  attachment: (target: AttachmentTarget) => sealedKey(room, 'attachment', ...partsOf(target)),
  /** An index of targets by policy. */
  attachedTo: (policy: string, target: AttachmentTarget) => sealedKey(room, 'attached-to', policy, ...partsOf(target)),
  serviceAccount: (accessKey: string) => sealedKey(room, 'service-account', accessKey),
  /** An index of service accounts by owner. */
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
