/** In answers to probes of a server that is not ready. */
export const waitsForHeader = 'x-coffer-waiting-for';

const words = ['start', 'database', 'records', 'bodies', 'key-service', 'default-key'] as const;

/** `store:` and the ID of the store that is there, or that an empty one would get: it is not the one of this deployment. */
type OtherStore = `store:${string}`;

const otherStore = /^store:[0-9a-f-]{36}$/;

export function isOtherStore(waitsFor: string): waitsFor is OtherStore {
  return otherStore.test(waitsFor);
}

/**
 * The dependency that a server waits for before it serves, in one word: the probes report it to every caller. `database` is a database with
 * the records, `records` their folder, `bodies` where the bodies of objects are, `default-key` the key that the key service does not have, `start` the server itself.
 */
export type WaitsFor = (typeof words)[number] | OtherStore;

/** The dependencies that are missing altogether. */
export type MissingService = Exclude<(typeof words)[number], 'start'>;

/** The dependencies that an administrator can repair. */
export type Missing = MissingService | OtherStore;

/** Undefined for no header, for a server that merely starts, and for a word of another version. */
export function readMissing(header: unknown): Missing | undefined {
  if (typeof header === 'string' && isOtherStore(header)) return header;
  const found = words.find((word) => word === header);
  return found === 'start' ? undefined : found;
}
