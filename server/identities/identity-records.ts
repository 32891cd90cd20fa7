import { z } from 'zod';
import { subjectSchema } from './subject.ts';

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
  /** JSON as it was given: its meaning is that of the parser, not of an old record. */
  document: z.string(),
  createdAt: time,
  updatedAt: time,
  /** What it was before, the newest first; bounded. */
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
  /** JSON of the policy that narrows the subject's rights; without it the account may do what its subject may. */
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
