import { z } from 'zod';
import type { TransferRow } from '../../../protocol/console/transfer-answers.ts';
import { nameOf } from '../../../protocol/console/transfer-target.ts';

const key = z.string().min(1).max(1_024);
const bucket = z.string().min(1).max(255);

/** The form of a transfer. */
export const transferForm = z.strictObject({
  kind: z.enum(['rename', 'move', 'copy']),
  bucket,
  objects: z.array(key).max(1_000).readonly(),
  folders: z.array(key.endsWith('/')).max(1_000).readonly(),
  target: z.strictObject({ bucket, prefix: z.string().max(1_024) }),
  rename: z.string().min(1).max(1_024).optional(),
  replace: z.boolean(),
});

/** The record of a transfer. */
export const storedTransfer = z.object({
  format: z.literal(1),
  form: transferForm,
  /** The session whose rights the transfer has. It ends with the session. */
  sessionId: z.string(),
  /** The user, who sees the transfer from other sessions too. */
  owner: z.string(),
  remoteAddress: z.string(),
  secure: z.boolean(),
  state: z.enum(['running', 'done', 'stopped']),
  reason: z.string().optional(),
  /** The process that works on it. */
  runner: z.string(),
  /** The time when the runner was seen. Milliseconds since 1970. */
  seen: z.number(),
  /** The entries before this one are done: first the objects, then the folders. */
  entry: z.number(),
  /** The keys of the current folder up to this one are done. */
  after: z.string(),
  done: z.number(),
  total: z.number().optional(),
  failures: z.number(),
  failed: z.array(z.object({ key: z.string(), message: z.string() })),
  /** The sweeper of sessions removes the record then. Milliseconds since 1970. */
  expires: z.number(),
});

export type StoredTransfer = z.infer<typeof storedTransfer>;

const verbs = { rename: 'Rename', move: 'Move', copy: 'Copy' } as const;

export function rowOf(id: string, { form, state, reason, done, total, failures, failed }: StoredTransfer): TransferRow {
  const entries = [...form.objects, ...form.folders];
  const what = entries.length === 1 ? nameOf(entries[0] ?? '') : `${entries.length} entries`;
  return {
    id,
    title: `${verbs[form.kind]} ${what}`,
    kind: form.kind,
    bucket: form.bucket,
    target: form.target,
    state,
    ...(reason !== undefined && { reason }),
    done,
    ...(total !== undefined && { total }),
    failures,
    failed,
  };
}

/** The message for the user about a right that was refused. */
export function refusal({ action, resource }: { readonly action: string; readonly resource: string }): string {
  return `Your policies do not allow ${action} on ${resource}.`;
}
