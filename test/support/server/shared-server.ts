import type { ServerAccess } from './start-server.ts';

/** `left` and `right` have the same secret key and public metrics. `plain` has no settings but the root user. */
export type SharedServer = 'plain' | 'left' | 'right';

/**
 * A server that the files of a run share (test/support/vitest/shared-server.ts). A file that uses one creates buckets and users that no
 * other file names, expects nothing of the list of buckets, and leaves the server running.
 */
export async function sharedServer(name: SharedServer = 'plain'): Promise<ServerAccess> {
  const answer = await fetch(new URL(name, process.env['COFFER_TEST_SHARED_SERVER']));
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as ServerAccess;
}
