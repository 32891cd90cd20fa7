import { z } from 'zod';
import { AdminError } from './admin-error.ts';
import type { AdminCall } from './route.ts';

/** Rejects where the body is no JSON of that shape. */
export async function jsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.body(), schema);
}

/** The same, encrypted under the caller's secret key. */
export async function sealedJsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.sealedBody(), schema);
}

function parsed<T>(body: Buffer, schema: z.ZodType<T>): T {
  const checked = schema.safeParse(jsonOf(body));
  if (checked.success) return checked.data;
  throw new AdminError(
    'XMinioAdminConfigBadJSON',
    `The body is not what this call takes: ${z.prettifyError(checked.error)}`,
  );
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // The text may hold secrets: it is not repeated, nor is what the parser says of it.
    throw new AdminError('XMinioAdminConfigBadJSON', 'The body is no JSON.');
  }
}
