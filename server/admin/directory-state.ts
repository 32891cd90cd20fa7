import { setTimeout as sleep } from 'node:timers/promises';
import { LdapProblem } from '../access/ldap/ldap-problem.ts';
import type { AdminServices } from './services.ts';

/** `online` where the directory answers searches. */
export type DirectoryState = 'online' | 'offline' | 'disabled';

/** Nobody's: what is asked is whether it answers. */
const anyName = 'coffer-asks-whether-you-are-there';

/** Milliseconds. Whoever asks how the server is does not wait for a directory that is slow. */
const patience = 3_000;

export async function directoryState(
  directory: AdminServices['directory'],
  patienceMs = patience,
): Promise<DirectoryState> {
  if (directory === undefined) return 'disabled';
  const late = new AbortController();
  try {
    return await Promise.race([
      directory.find(anyName).then((): DirectoryState => 'online', stateAfter),
      sleep(patienceMs, 'offline' as const, { signal: late.signal, ref: false }),
    ]);
  } finally {
    late.abort();
  }
}

function stateAfter(error: unknown): DirectoryState {
  if (!(error instanceof LdapProblem)) return 'offline';
  if (error.code === 'not-configured') return 'disabled';
  return error.code === 'unavailable' ? 'offline' : 'online';
}
