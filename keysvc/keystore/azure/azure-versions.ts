import { KeyStoreError } from '../keystore.ts';
import { keyNameOf, listItems } from './azure-listing.ts';
import type { AzureVault } from './azure-vault.ts';
import { oldestOf, settlesInMs } from './secret-version.ts';
import type { SecretVersion } from './secret-version.ts';

interface Versions {
  readonly all: readonly SecretVersion[];
  /** The vault's own time of the answer. */
  readonly vaultNow: number;
}

/** The ID of the version that counts, once no other can come before it; undefined where there is no such key. */
export async function settledVersion(vault: AzureVault, name: string): Promise<string | undefined> {
  for (;;) {
    const { all, vaultNow } = await versionsOf(vault, name);
    const oldest = oldestOf(all);
    if (oldest === undefined) return undefined;
    const wait = settlesInMs(oldest, vaultNow);
    if (wait === 0) return oldest.id;
    await vault.remote.clock.sleep(wait);
  }
}

/** Every version of a key, however many pages they take. */
export async function versionsOf(vault: AzureVault, name: string): Promise<Versions> {
  const all: SecretVersion[] = [];
  let vaultNow = vault.remote.clock.now();
  const items = listItems(vault, `/secrets/${name}/versions`, name, (answer) => {
    const date = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(date)) vaultNow = date;
  });
  for await (const item of items) {
    const given = keyNameOf(item);
    if (given !== name) {
      throw new KeyStoreError(
        'refused',
        `the key vault ${vault.endpoint} holds "${given}", which differs from the key "${name}" only in case: ` +
          'Azure Key Vault takes them for one name',
      );
    }
    // Without its time nobody could say which is the oldest.
    if (item.attributes.created === undefined) {
      throw new KeyStoreError('unavailable', `the key vault ${vault.endpoint} tells no time of "${item.id}"`);
    }
    all.push({ id: item.id.split('/').at(-1) ?? '', created: item.attributes.created });
  }
  return { all, vaultNow };
}
