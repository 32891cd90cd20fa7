import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { key, within } from '../store/keys.ts';
import type { Key, Batch, RecordStore, Revision } from '../store/record-store.ts';
import { commitOnce } from '../store/commits.ts';
import { disagreements } from './agreement.ts';

/**
 * The keys of records that servers write about themselves while they run. A copy of the records may leave them out. Copied ones are
 * harmless, because a server whose record does not change counts as gone.
 */
export const liveKeys = {
  /** The term of a lease, which changes with each holder. */
  term: (lease: string): Key => key('live', 'lease', lease, 'term'),
  /** The heartbeat of a lease, which changes with each renewal. */
  beat: (lease: string): Key => key('live', 'lease', lease, 'beat'),
  leases: within('live', 'lease'),
  server: (id: string): Key => key('live', 'replica', id),
} as const;

const schema = z.object({
  id: z.string(),
  /** `HOST:PORT` of S3. */
  endpoint: z.string(),
  version: z.string(),
  /** Milliseconds since 1970, by the replica's own clock. */
  startedAt: z.number(),
  /** True if the server has reached the key service. */
  keyService: z.boolean(),
  /** The newest format of object records that the server reads, and agrees to write. Absent in those of servers before format 4. */
  format: z.number().optional(),
  /** The UID of the Tenant of the server. Absent for servers without an operator, on a volume, or of earlier versions. */
  tenant: z.string().optional(),
  /** The settings that all servers must share. Absent in those of older servers. */
  agreement: z.record(z.string(), z.array(z.string()).readonly()).optional(),
});

/** The facts that a server publishes about itself. */
export type ServerFacts = z.infer<typeof schema>;

interface RegistryOptions {
  readonly records: Pick<RecordStore, 'scan' | 'commit' | 'outcome'>;
  /** Called for each update. */
  readonly own: () => ServerFacts;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. Its times are never compared with those of another machine. */
  readonly clock: () => number;
  readonly wait?: (ms: number) => Promise<unknown>;
  /** Called before the wait for a server that may be gone. */
  readonly onDoubt?: (message: string) => void;
}

/** In milliseconds. A server that has not changed its record for `gone` counts as gone. Its record is removed after `forgotten`. */
export const registryTimes = { every: 3_000, gone: 12_000, forgotten: 10 * 60_000 } as const;

/** The record of a server, and when its revision was first seen. */
interface Seen {
  readonly revision: Revision;
  readonly since: number;
  readonly facts: ServerFacts;
}

/** Lists the live servers of a record store. Each server changes its own record every few seconds. */
export class ServerRegistry {
  readonly #options: RegistryOptions;
  readonly #id: string;
  readonly #seen = new Map<string, Seen>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#id = options.own().id;
  }

  /**
   * Publishes this server, unless a live one has other settings. A record of a server that was killed looks like that of a live one, so this
   * waits until the record changes or has not changed for `gone`.
   *
   * @throws ProgramError with the name of the server and of the settings
   */
  async join(): Promise<void> {
    const { clock, onDoubt, wait = sleep } = this.#options;
    const first = new Map<string, Revision>();
    for (let published = false; ;) {
      await (published ? this.step() : this.#look());
      const others = this.#disagreeing().filter(({ since }) => clock() - since < registryTimes.gone);
      // Of two servers that start at the same time, each sees the other one, and the later one is refused.
      const isMember = ({ revision, facts }: Seen) =>
        first.has(facts.id) ? first.get(facts.id) !== revision : published && startsBefore(facts, this.#options.own());
      const member = others.find(isMember);
      if (member !== undefined) {
        if (published) await this.close();
        throw this.#refusal(member.facts);
      }
      if (others[0] === undefined) {
        if (published) return;
        published = true;
        continue;
      }
      if (first.size === 0) onDoubt?.(this.#describe(others[0].facts));
      for (const { revision, facts } of others) first.set(facts.id, revision);
      await wait(registryTimes.every);
    }
  }

  #disagreeing(): readonly Seen[] {
    const own = this.#options.own();
    return [...this.#seen.values()].filter(
      ({ facts }) => facts.id !== own.id && disagreements(own.agreement, facts.agreement).length > 0,
    );
  }

  #refusal(other: ServerFacts): ProgramError {
    return new ProgramError(
      'other-settings',
      `${this.#describe(other)}: give all servers of a deployment the same, or stop those with the former settings first` +
        ' (SVC_ROOT_FORMER_FILE lets root credentials change one server at a time)',
    );
  }

  #describe(other: ServerFacts): string {
    const own = this.#options.own();
    const parts = disagreements(own.agreement, other.agreement).map((setting) => {
      const values =
        setting === 'SVC_REGION'
          ? ` (${other.agreement?.[setting]?.join()}, here ${own.agreement?.[setting]?.join()})`
          : '';
      return `${setting}${values}`;
    });
    return `the server ${other.endpoint} of this deployment has another ${parts.join(' and another ')}`;
  }

  /** Writes the record of this server and reads those of the others. Call it every `registryTimes.every` milliseconds. */
  async step(): Promise<void> {
    const own = this.#options.own();
    await this.#commit({ put: [{ key: liveKeys.server(this.#id), value: Buffer.from(JSON.stringify(own)) }] });
    await this.#look();
  }

  /**
   * Returns the live servers, including this one, in the order of their ids. A server counts as live until its record has not changed for
   * `gone`. So a server that starts takes a dead one for live at first, and never the other way round.
   */
  live(): readonly ServerFacts[] {
    const now = this.#options.clock();
    const others = [...this.#seen.values()].filter(
      ({ since, facts }) => facts.id !== this.#id && now - since < registryTimes.gone,
    );
    return [this.#options.own(), ...others.map(({ facts }) => facts)].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Reads the records of the servers, and returns the live ones but this one, which need not have joined. */
  async others(): Promise<readonly ServerFacts[]> {
    await this.#look();
    return this.live().filter(({ id }) => id !== this.#id);
  }

  /**
   * Returns the live servers, and those that ended less than `forgotten` ago without removing their record. A server that was killed, or is cut
   * off from the records, may be back in a minute.
   */
  members(): readonly ServerFacts[] {
    const others = [...this.#seen.values()].filter(({ facts }) => facts.id !== this.#id);
    return [this.#options.own(), ...others.map(({ facts }) => facts)];
  }

  /** Removes the record of this server, so that the others need not wait until it counts as gone. */
  async close(): Promise<void> {
    await this.#commit({ delete: [liveKeys.server(this.#id)] });
  }

  async #look(): Promise<void> {
    const there = new Set<string>();
    const forgotten: { readonly key: Key; readonly revision: Revision }[] = [];
    const now = this.#options.clock();
    for await (const item of this.#options.records.scan(within('live', 'replica'))) {
      if (item.kind !== 'entry') continue;
      const { key, revision, value } = item;
      const read = schema.safeParse(parsed(value));
      // A newer server may publish other fields.
      if (!read.success) continue;
      there.add(read.data.id);
      const known = this.#seen.get(read.data.id);
      if (known?.revision !== revision) this.#seen.set(read.data.id, { revision, since: now, facts: read.data });
      else if (now - known.since >= registryTimes.forgotten) forgotten.push({ key, revision });
    }
    for (const id of this.#seen.keys()) if (!there.has(id)) this.#seen.delete(id);
    for (const { key, revision } of forgotten) {
      await this.#commit({ expect: [{ kind: 'revision', key, revision }], delete: [key] });
    }
  }

  async #commit(batch: Omit<Batch, 'id'>): Promise<void> {
    await commitOnce(this.#options.records, batch, this.#options.random);
  }
}

/** Orders servers for both of them, although their clocks differ. */
function startsBefore(one: ServerFacts, other: ServerFacts): boolean {
  return one.startedAt === other.startedAt ? one.id < other.id : one.startedAt < other.startedAt;
}

function parsed(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}
