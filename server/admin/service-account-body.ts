import { z } from 'zod';

/** Clients send the fields that they do not set as null or empty. */
const text = z.string().nullish();
const policy = z.unknown().optional();

export const newServiceAccountBody = z.object({
  policy,
  targetUser: text,
  accessKey: text,
  secretKey: text,
  name: text,
  description: text,
  /** What older clients call the description. */
  comment: text,
  expiration: text,
});

export const serviceAccountChangeBody = z.object({
  newPolicy: policy,
  newSecretKey: text,
  newStatus: text,
  newName: text,
  newDescription: text,
  newComment: text,
  newExpiration: text,
});

/** Undefined where nothing was said. */
export function given(value: string | null | undefined): string | undefined {
  return value === null || value === '' ? undefined : value;
}

/** Undefined where nothing was said, null where it says that there is to be no policy: a document without statements. */
export function givenPolicy(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !hasStatements(value)) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function hasStatements(document: object): boolean {
  if (Object.keys(document).some((name) => !['Version', 'Statement', 'ID', 'Id'].includes(name))) return true;
  const statements: unknown = 'Statement' in document ? document.Statement : undefined;
  return Array.isArray(statements) ? statements.length > 0 : statements !== undefined && statements !== null;
}
