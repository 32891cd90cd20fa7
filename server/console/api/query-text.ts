import type { Request } from 'express';
import { ConsoleError } from './console-error.ts';

/**
 * A name that a request is about. Names are query parameters, because they are no paths: `..` and `a/b` are good names of a group, and
 * browsers would resolve them away.
 */
export function queryText(request: Request, name: string): string {
  const value = request.query[name];
  if (typeof value === 'string' && value !== '' && value.length <= 1_024) return value;
  throw new ConsoleError('BadRequest', `The parameter ${name} is missing.`);
}
