import { readSealedJson } from '../../encryption/sealed-json.ts';
import { IdentityError } from '../../auth/identity-error.ts';
import { z } from 'zod';
import { changeInTurn } from '../../encryption/change-in-turn.ts';
import { sealedKey, sealedWithin, type SealedRecordStore } from '../../encryption/sealed-records.ts';
import { decodeKey } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';

/** A configuration that administrators store while the server runs, of the subsystem `identity_openid` or `identity_ldap`. */
export interface StoredConfiguration {
  /** `_` if it has no name of its own. */
  readonly name: string;
  /** Keys and values as the administrator sent them. */
  readonly values: ReadonlyMap<string, string>;
}

interface HistoryEntry {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The whole change in the format of `set-config-kv`, with secrets. */
  readonly text: string;
}

export interface StoredConfigurations {
  /** Increases with every change of a configuration; undefined before the first one. */
  revision(): Promise<number | undefined>;
  list(subsystem: string): Promise<readonly StoredConfiguration[]>;
  /**
   * Commits puts and removes in one batch. `decide` gets the current configurations and runs again if another change was committed
   * meanwhile. An error of `decide` ends the change.
   */
  change(subsystem: string, decide: (known: readonly StoredConfiguration[]) => ConfigurationChange): Promise<void>;
  /** Lists the newest entries first. */
  history(count: number): Promise<readonly HistoryEntry[]>;
  historyEntry(id: string): Promise<HistoryEntry | undefined>;
  /** Removes one entry, or all. */
  clearHistory(id?: string): Promise<void>;
}

interface ConfigurationChange {
  readonly put?: readonly StoredConfiguration[];
  readonly remove?: readonly string[];
  /** The text for the history. */
  readonly text?: string;
}

const room = 'idp';
const head = sealedKey(room, 'head');
/** Entries that the history keeps. */
const maxHistory = 200;

const configurationSchema = z.object({ format: z.literal(1), values: z.record(z.string(), z.string()) });
const historySchema = z.object({ format: z.literal(1), at: z.number(), text: z.string() });

export function storedConfigurations(records: SealedRecordStore, clock: () => Date): StoredConfigurations {
  const list = async (subsystem: string) => {
    const found: StoredConfiguration[] = [];
    for await (const entry of records.scan(sealedWithin(room, 'config', subsystem))) {
      const { values } = readSealedJson(configurationSchema, entry);
      found.push({ name: lastPart(entry.key), values: new Map(Object.entries(values)) });
    }
    return found;
  };
  const history = async (count: number) => {
    const found: HistoryEntry[] = [];
    for await (const entry of records.scan({
      ...sealedWithin(room, 'history'),
      reverse: true,
      limit: count,
    })) {
      const { at, text } = readSealedJson(historySchema, entry);
      found.push({ id: lastPart(entry.key), at, text });
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
        throw new IdentityError('busy', 'The configuration is being changed by many at once; try again.');
      await removeOldHistory(records);
    },
    history,
    async historyEntry(id) {
      return /^[0-9a-f]{16}$/.test(id) ? (await history(maxHistory)).find((entry) => entry.id === id) : undefined;
    },
    async clearHistory(id) {
      const entries = await history(maxHistory);
      const gone = id === undefined ? entries : entries.filter((entry) => entry.id === id);
      if (id !== undefined && gone.length === 0) {
        throw new IdentityError('no-such-history', `There is no entry ${JSON.stringify(id.slice(0, 64))}.`);
      }
      for (const entry of gone) await records.delete(sealedKey(room, 'history', entry.id));
    },
  };
}

function configKey(subsystem: string, name: string): Key {
  return sealedKey(room, 'config', subsystem, name);
}

/**
 * The key of a history entry. It contains the revision that the change expects, so that entries sort in commit order, independent of the
 * servers' clocks.
 */
function historyKey(revision: number | undefined): Key {
  return sealedKey(room, 'history', (revision ?? 0).toString(16).padStart(16, '0'));
}

/** Runs after the change; an extra entry is harmless. */
async function removeOldHistory(records: SealedRecordStore): Promise<void> {
  let seen = 0;
  for await (const { key } of records.scan({ ...sealedWithin(room, 'history'), reverse: true })) {
    seen += 1;
    if (seen > maxHistory) await records.delete(key);
  }
}

function lastPart(key: Key): string {
  return decodeKey(key).at(-1)?.toString() ?? '';
}
