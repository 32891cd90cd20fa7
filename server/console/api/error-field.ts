import { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { IdentityError } from '../../identities/identity-error.ts';
import type { IdentityErrorCode } from '../../identities/identity-error.ts';

const fields: Partial<Readonly<Record<IdentityErrorCode, string>>> = {
  'no-such-user': 'name',
  'no-such-group': 'name',
  'access-key-in-use': 'name',
  'invalid-access-key': 'name',
  'invalid-secret-key': 'secretKey',
  'invalid-name': 'name',
  'invalid-expiration': 'expires',
  'no-such-policy': 'policies',
  'policy-changed': 'name',
};

/** The field of a form that a refusal is about, so that it is shown there; undefined where it is about none, or several. */
export function fieldOf(error: unknown): string | undefined {
  if (error instanceof z.ZodError) return error.issues.length === 1 ? error.issues[0]?.path[0]?.toString() : undefined;
  if (error instanceof S3Error && error.code === 'MalformedPolicy') return 'policy';
  return error instanceof IdentityError ? fields[error.code] : undefined;
}
