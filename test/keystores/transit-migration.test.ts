import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeKey } from '../../keysvc/keys/key.ts';
import { writeKeyRecord } from '../../keysvc/keys/key-record.ts';
import { migrateKeys } from '../../keysvc/keys/migrate-keys.ts';
import { VaultKeyStore } from '../../keysvc/keystores/vault/vault-keystore.ts';
import { VirtualClock } from '../support/keysvc/http-double.ts';
import { MemoryKeyStore } from '../support/keysvc/memory-keystore.ts';
import { vaultSettings } from '../support/keysvc/vault.conformance.ts';
import { VaultDouble } from '../support/keysvc/vault-double.ts';

let double: VaultDouble;
let sealed: VaultKeyStore;

const settings = { transit: { engine: 'transit', key: 'master' } };
const record = writeKeyRecord(makeKey(new Date(0)));

beforeEach(async () => {
  double = await VaultDouble.start(new VirtualClock(), 'v2');
  sealed = new VaultKeyStore(vaultSettings(double, 'v2', settings), { clock: double.clock, attemptMs: 60_000 });
});
afterEach(() => double.http.close());

async function migrate(from: VaultKeyStore | MemoryKeyStore, to: VaultKeyStore | MemoryKeyStore) {
  const outcomes: string[] = [];
  await migrateKeys({
    from,
    to,
    pattern: '*',
    dryRun: false,
    onKey: (name, { kind }) => outcomes.push(`${name} ${kind}`),
  });
  return outcomes;
}

describe('keysvc migrate', () => {
  it('takes over records that KES has sealed by a transit engine', async () => {
    // As KES stores it: the ciphertext of the engine in the field of the key.
    double.put('my-key', { 'my-key': `vault:v1:${record.toString('base64').split('').reverse().join('')}` });
    const to = new MemoryKeyStore();
    expect(await migrate(sealed, to)).toEqual(['my-key copied']);
    expect(await to.get('my-key')).toEqual(record);
    expect(await migrate(sealed, to)).toEqual(['my-key present']);
  });

  it('seals records on their way into a vault with a transit engine', async () => {
    const from = new MemoryKeyStore();
    await from.create('my-key', record);
    expect(await migrate(from, sealed)).toEqual(['my-key copied']);
    expect(double.http.requests.map(({ body }) => body).join('')).toContain('"my-key":"vault:v1:');
    expect(await sealed.get('my-key')).toEqual(record);
  });

  it('copies nothing of a vault whose transit key the configuration does not name', async () => {
    await sealed.create('my-key', record);
    const without = new VaultKeyStore(vaultSettings(double, 'v2'), { clock: double.clock, attemptMs: 60_000 });
    const to = new MemoryKeyStore();
    await expect(migrate(without, to)).rejects.toThrow('name its key by keystore.vault.transit');
    expect(await Array.fromAsync(to.list())).toEqual([]);
  });
});
