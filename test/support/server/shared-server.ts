import type { RunningServer } from './start-server.ts';

/**
 * `left` and `right` have the same secret key and public metrics. `plain` has no settings but the root user. `console` has a key and a
 * webhook that does not answer, for the pages of buckets; its files make no users with rights in all buckets.
 */
export type SharedServer = 'plain' | 'left' | 'right' | 'console';

/** The addresses of a server, and its root credentials. */
export type SharedAccess = Pick<RunningServer, 's3' | 'console' | 'accessKey' | 'secretKey'>;

/**
 * A server that the files of a run share (test/support/vitest/shared-server.ts). A file that uses one creates buckets and users that no
 * other file names, expects nothing of the list of buckets, and leaves the server running.
 */
export async function sharedServer(name: SharedServer = 'plain'): Promise<SharedAccess> {
  const answer = await fetch(new URL(name, process.env['COFFER_TEST_SHARED_SERVER']));
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as SharedAccess;
}
