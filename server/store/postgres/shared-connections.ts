import { ProgramError } from '../../../platform/errors/program-error.ts';
import { StoreError } from '../store-error.ts';
import { sessionModeAdvice } from './pooler-advice.ts';
import type { Session } from './session.ts';

/**
 * Throws `ProgramError` if the process that serves the session serves one of the others, too. Only a pooler in transaction or statement mode
 * does that.
 */
export function refuseSharedBackend(session: Session, others: readonly Session[], where: string): void {
  if (!session.behindPooler || !others.some(({ backend }) => backend === session.backend)) return;
  throw new ProgramError('store-address', `${where}: ${sessionModeAdvice}`);
}

/** Connections that are left for other programs, such as a backup or the shell of an administrator. */
const LEFT_FOR_OTHERS = 3;

/** Throws `StoreError` if the server takes few more connections and the pool has one already. */
export function leaveConnections({ left = Infinity }: Session, others: readonly Session[], where: string): void {
  if (left >= LEFT_FOR_OTHERS || others.length === 0) return;
  throw new StoreError(
    'unreachable',
    `${where} has ${left} connections left, which are for other programs: raise max_connections`,
  );
}
