/** In answers to probes of a server that is not ready. */
export const waitsForHeader = 'x-coffer-waiting-for';

const words = ['start', 'database', 'records', 'bodies', 'key-service', 'default-key'] as const;

/**
 * The dependency that a server waits for before it serves, in one word: the probes report it to every caller. `database` is a database with
 * the records, `records` their folder, `bodies` where the bodies of objects are, `default-key` the key that the key service does not have, `start` the server itself.
 */
export type WaitsFor = (typeof words)[number];

/** The dependencies that an administrator can repair. */
export type Missing = Exclude<WaitsFor, 'start'>;

/** Undefined for no header, for a server that merely starts, and for a word of another version. */
export function readMissing(header: unknown): Missing | undefined {
  const found = words.find((word) => word === header);
  return found === 'start' ? undefined : found;
}
