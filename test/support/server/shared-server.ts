import type { ServerAccess } from './start-server.ts';

/**
 * The server that the files of a run share (test/support/vitest/shared-server.ts). It has no settings but the root user. A file that uses
 * it creates buckets that no other file names, expects nothing of the list of buckets, and leaves the server running.
 */
export async function sharedServer(): Promise<ServerAccess> {
  const answer = await fetch(process.env['COFFER_TEST_SHARED_SERVER'] ?? '');
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as ServerAccess;
}
