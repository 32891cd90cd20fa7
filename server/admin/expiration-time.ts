import { AdminError } from './admin-error.ts';

/** What clients take for "never". */
export const never = '1970-01-01T00:00:00Z';

const neverTimes = new Set([0, Date.parse('0001-01-01T00:00:00Z')]);

/** From an RFC 3339 time; null for the times that stand for none, undefined where none is given. */
export function expirationOf(text: string | null | undefined): Date | null | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new AdminError(
      'XMinioAdminInvalidArgument',
      `The expiration is a time such as 2030-01-31T00:00:00Z, not ${JSON.stringify(text.slice(0, 40))}.`,
    );
  }
  return neverTimes.has(time) ? null : new Date(time);
}

/** As clients show it: whole seconds. */
export function expirationText(expiration: number): string {
  return new Date(expiration).toISOString().replace(/\.\d+Z$/, 'Z');
}
