import { KeyStoreError } from '../keystore.ts';
import type { Outcome, RemoteAnswer } from '../remote/remote.ts';
import { beingDeleted, deletedButRecoverable, isPurgeProtected, readFailure } from './azure-errors.ts';
import type { AzureVault } from './azure-vault.ts';

/** A deletion is carried out in the background, for some seconds. */
const longestMs = 60_000;
const pauseMs = 500;

/**
 * Deletes a key and purges it where the vault lets anybody. One that was deleted before, and can still be recovered, is purged.
 * Whether there was one.
 *
 * @see https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
 */
export async function deleteSecret(vault: AzureVault, name: string): Promise<boolean> {
  // The client's own waiting goes on for ever, so it is left to begin the deletion.
  const deletion = await whileBeingDeleted(vault, () =>
    vault.attempt(async (secrets) => (await secrets.beginDeleteSecret(name)).getResult()),
  );
  if ('refusal' in deletion) {
    const { refusal } = deletion;
    if (refusal.status !== 404 && readFailure(refusal).inner !== deletedButRecoverable) {
      throw vault.error({ permission: 'Delete', key: name }, refusal);
    }
    const purged = await purge(vault, name, false);
    // An earlier attempt of this deletion may be the one that the protection now keeps.
    if (purged === 'protected' && !refusal.repeated) throw purgeProtected(vault, name);
    return purged !== 'missing' || refusal.repeated;
  }
  const level = deletion.value?.properties.recoveryLevel ?? '';
  // Without soft delete it is gone, and with purge protection nobody can make it go before its time.
  const isOver = level === 'Purgeable' || (level !== '' && !level.includes('Purgeable'));
  if (!isOver) await purge(vault, name, true);
  return true;
}

/** Calls until the vault is through with a deletion that it has begun, or takes too long for it. */
export async function whileBeingDeleted<T>(
  vault: AzureVault,
  call: () => Promise<Outcome<T>>,
  waits: (answer: RemoteAnswer) => boolean = isBeingDeleted,
): Promise<Outcome<T>> {
  const { clock } = vault.remote;
  const began = clock.now();
  for (;;) {
    const outcome = await call();
    if ('value' in outcome || !waits(outcome.refusal) || clock.now() - began > longestMs) return outcome;
    await clock.sleep(pauseMs);
  }
}

/** What was there. A key that was deleted just now may not be seen among the deleted ones at once. */
async function purge(vault: AzureVault, name: string, isDue: boolean): Promise<'purged' | 'protected' | 'missing'> {
  const outcome = await whileBeingDeleted(
    vault,
    () => vault.attempt((secrets) => secrets.purgeDeletedSecret(name)),
    (answer) => isBeingDeleted(answer) || (isDue && answer.status === 404 && !answer.repeated),
  );
  if ('value' in outcome) return 'purged';
  if (isPurgeProtected(readFailure(outcome.refusal))) return 'protected';
  if (outcome.refusal.status === 404) return outcome.refusal.repeated ? 'purged' : 'missing';
  throw vault.error({ permission: 'Purge', key: name }, outcome.refusal);
}

function purgeProtected({ endpoint }: AzureVault, name: string): KeyStoreError {
  return new KeyStoreError(
    'refused',
    `the key vault ${endpoint} has purge protection, so the deleted key "${name}" stays until its retention ends: ` +
      `recover it ("az keyvault secret recover --name ${name} --vault-name …") or use another name`,
  );
}

function isBeingDeleted(answer: RemoteAnswer): boolean {
  return answer.status === 409 && readFailure(answer).inner === beingDeleted;
}
