import type { Caller } from '../../admin/caller.ts';
import type { Administration } from '../services.ts';
import type { Gate, Visit } from './authorize.ts';
import { ConsoleError } from './console-error.ts';
import { visitorOf } from './visitor.ts';

/** The person behind a request as the rules of administration see them. */
export function callerOf(visit: Visit, gate: Gate, { identities, root }: Administration): Caller {
  const { principal } = visitorOf(visit.response).credentials;
  if (principal.kind === 'anonymous') throw new ConsoleError('NotSignedIn', 'Sign in first.');
  return {
    principal,
    services: { identities, root },
    require: (action, resource = '') => gate.require(visit, action, resource),
  };
}
