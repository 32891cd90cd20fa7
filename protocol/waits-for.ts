/** In answers to probes of a server that is not ready. */
export const waitsForHeader = 'x-coffer-waiting-for';

const words = ['start', 'database', 'records', 'bodies', 'key-service', 'default-key'] as const;

/**
 * `store:` and the ID of the store that is there, or that an empty one would get: it is not the one of this deployment. A colon and the UID of the
 * Tenant that has the store follow where its records name another Tenant. Probes are answered to every caller, so that they have no names.
 */
type OtherStore = `store:${string}`;

const otherStore = /^store:([0-9a-f-]{36})(?::([\w-]{1,64}))?$/;

export function isOtherStore(waitsFor: string): waitsFor is OtherStore {
  return otherStore.test(waitsFor);
}

export function writeOtherStore({ store, tenant }: RefusedStore): OtherStore {
  return `store:${store}${tenant === undefined ? '' : `:${tenant}`}`;
}

export function readOtherStore(waitsFor: string): RefusedStore | undefined {
  const [, store, tenant] = otherStore.exec(waitsFor) ?? [];
  return store === undefined ? undefined : { store, tenant };
}

/** A store that a server refuses. */
export interface RefusedStore {
  /** The ID that an acceptance has to name. */
  readonly store: string;
  /** The UID of the other Tenant that has it; undefined where its records name none. */
  readonly tenant?: string | undefined;
}

/**
 * The dependency that a server waits for before it serves, in one word: the probes report it to every caller. `database` is a database with
 * the records, `records` their folder, `bodies` where the bodies of objects are, `default-key` the key that the key service does not have, `start` the server itself.
 */
export type WaitsFor = (typeof words)[number] | OtherStore;

/** Sentences for callers of a server that does not serve yet. Every caller may see them: they have no addresses and no names. */
const sentences: Readonly<Record<(typeof words)[number], string>> = {
  start: 'it is starting',
  database: 'it waits for its database',
  records: 'it waits for the folder of its records',
  bodies: 'it waits for the store of its bodies',
  'key-service': 'it waits for the key service',
  'default-key': 'it waits for its key at the key service',
};

export function describeWait(waitsFor: WaitsFor): string {
  return isOtherStore(waitsFor) ? 'it waits for the store of its deployment' : sentences[waitsFor];
}

/** Returns what the header of a server that is not ready says; undefined for no header, and for a word of another version. */
export function readWaitsFor(header: unknown): WaitsFor | undefined {
  if (typeof header === 'string' && isOtherStore(header)) return header;
  return words.find((word) => word === header);
}

/** The dependencies that are missing altogether. */
export type MissingService = Exclude<(typeof words)[number], 'start'>;

/** The dependencies that an administrator can repair. */
export type Missing = MissingService | OtherStore;

/** Undefined for no header, for a server that merely starts, and for a word of another version. */
export function readMissing(header: unknown): Missing | undefined {
  const found = readWaitsFor(header);
  return found === 'start' ? undefined : found;
}
