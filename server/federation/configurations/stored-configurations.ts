import { z } from 'zod';
import { changeInTurn } from '../../encryption/change-in-turn.ts';
import { sealedKey, sealedWithin, type SealedRecordStore } from '../../encryption/sealed-records.ts';
import { decodeKey } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { ConfigurationError } from './provider-configurations.ts';

/** What administrators configure while the server runs, by subsystem: `identity_openid`, `identity_ldap`. */
export interface StoredConfiguration {
  /** `_` where it has no name of its own. */
  readonly name: string;
  /** Keys and values as the administrator gave them. */
  readonly values: ReadonlyMap<string, string>;
}

interface HistoryEntry {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The whole change, as `set-config-kv` takes it; it holds secrets. */
  readonly text: string;
}

export interface StoredConfigurations {
  /** Changes with every change of any configuration; undefined while there never was one. */
  revision(): Promise<number | undefined>;
  list(subsystem: string): Promise<readonly StoredConfiguration[]>;
  /**
   * Puts and removes at once. `decide` is given what there is, and asked again when something else was changed meanwhile; what it throws
   * ends the change.
   */
  change(subsystem: string, decide: (known: readonly StoredConfiguration[]) => ConfigurationChange): Promise<void>;
  /** The newest first. */
  history(count: number): Promise<readonly HistoryEntry[]>;
  historyEntry(id: string): Promise<HistoryEntry | undefined>;
  /** One entry, or all of them. */
  clearHistory(id?: string): Promise<void>;
}

interface ConfigurationChange {
  readonly put?: readonly StoredConfiguration[];
  readonly remove?: readonly string[];
  /** What is remembered of it. */
  readonly text?: string;
}

const room = 'idp';
const head = sealedKey(room, 'head');
/** Entries that are kept. */
const longestHistory = 200;

const configurationSchema = z.object({ format: z.literal(1), values: z.record(z.string(), z.string()) });
const historySchema = z.object({ format: z.literal(1), at: z.number(), text: z.string() });

export function storedConfigurations(records: SealedRecordStore, clock: () => Date): StoredConfigurations {
  const list = async (subsystem: string) => {
    const found: StoredConfiguration[] = [];
    for await (const { key, value } of records.scan(sealedWithin(room, 'config', subsystem))) {
      const { values } = configurationSchema.parse(JSON.parse(value.toString()));
      found.push({ name: lastPart(key), values: new Map(Object.entries(values)) });
    }
    return found;
  };
  const history = async (count: number) => {
    const found: HistoryEntry[] = [];
    for await (const { key, value } of records.scan({
      ...sealedWithin(room, 'history'),
      reverse: true,
      limit: count,
    })) {
      const { at, text } = historySchema.parse(JSON.parse(value.toString()));
      found.push({ id: lastPart(key), at, text });
    }
    return found;
  };
  return {
    revision: () => records.revision(head),
    list,
    async change(subsystem, decide) {
      const done = await changeInTurn({
        records,
        head,
        async decide(revision) {
          const { put = [], remove = [], text } = decide(await list(subsystem));
          const at = clock().getTime();
          const remembered = text === undefined ? [] : [{ key: historyKey(revision), value: { format: 1, at, text } }];
          const values = put.map((one) => ({
            key: configKey(subsystem, one.name),
            value: { format: 1, values: Object.fromEntries(one.values) },
          }));
          const batch = {
            put: [...values, ...remembered],
            delete: remove.map((name) => configKey(subsystem, name)),
          };
          return { batch, result: undefined };
        },
      });
      if (done === undefined)
        throw new ConfigurationError('busy', 'The configuration is being changed by many at once; try again.');
      await forgetOld(records);
    },
    history,
    async historyEntry(id) {
      return /^[0-9a-f]{16}$/.test(id) ? (await history(longestHistory)).find((entry) => entry.id === id) : undefined;
    },
    async clearHistory(id) {
      const entries = await history(longestHistory);
      const gone = id === undefined ? entries : entries.filter((entry) => entry.id === id);
      if (id !== undefined && gone.length === 0) {
        throw new ConfigurationError('no-such-history', `There is no entry ${JSON.stringify(id.slice(0, 64))}.`);
      }
      for (const entry of gone) await records.delete(sealedKey(room, 'history', entry.id));
    },
  };
}

function configKey(subsystem: string, name: string): Key {
  return sealedKey(room, 'config', subsystem, name);
}

/** In the order of the changes, whatever the clocks of the servers say: each expects the revision that it is named after. */
function historyKey(revision: number | undefined): Key {
  return sealedKey(room, 'history', (revision ?? 0).toString(16).padStart(16, '0'));
}

/** Not part of the change: an entry too many does no harm. */
async function forgetOld(records: SealedRecordStore): Promise<void> {
  let seen = 0;
  for await (const { key } of records.scan({ ...sealedWithin(room, 'history'), reverse: true })) {
    seen += 1;
    if (seen > longestHistory) await records.delete(key);
  }
}

function lastPart(key: Key): string {
  return decodeKey(key).at(-1)?.toString() ?? '';
}
