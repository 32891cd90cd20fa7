import { KeyError } from '../keystore.ts';
import type { Outcome, RemoteAnswer } from '../remote/remote.ts';
import { beingDeleted, deletedButRecoverable, isPurgeProtected, isSecretMissing, readFailure } from './azure-errors.ts';
import type { AzureVault } from './azure-vault.ts';

/** The vault deletes in the background, which takes some seconds. */
const maxWaitMs = 60_000;
const pauseMs = 500;

/**
 * Deletes a key, and purges it where the vault allows this. It purges a key that was deleted before and can still be recovered. Returns
 * whether there was a key.
 *
 * @see https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
 */
export async function deleteSecret(vault: AzureVault, name: string): Promise<boolean> {
  // The client would wait without a limit, so it only starts the deletion.
  const deletion = await whileBeingDeleted(vault, () =>
    vault.attempt(async (secrets) => (await secrets.beginDeleteSecret(name)).getResult()),
  );
  if ('refusal' in deletion) {
    const { refusal } = deletion;
    if (!isSecretMissing(refusal) && readFailure(refusal).inner !== deletedButRecoverable) {
      throw vault.error({ permission: 'Delete', key: name }, refusal);
    }
    const purged = await purge(vault, name, false);
    // An earlier attempt may have deleted the key that the purge protection now keeps.
    if (purged === 'protected' && !refusal.repeated) throw purgeProtected(vault, name);
    return purged !== 'missing' || refusal.repeated;
  }
  const level = deletion.value?.properties.recoveryLevel ?? '';
  // Without soft delete the key is gone. With purge protection it stays until its time.
  const isOver = level === 'Purgeable' || (level !== '' && !level.includes('Purgeable'));
  if (!isOver) await purge(vault, name, true);
  return true;
}

/** Repeats a call until the vault has finished a deletion, or the time is over. */
export async function whileBeingDeleted<T>(
  vault: AzureVault,
  call: () => Promise<Outcome<T>>,
  waits: (answer: RemoteAnswer) => boolean = isBeingDeleted,
): Promise<Outcome<T>> {
  const { clock } = vault.remote;
  const began = clock.now();
  for (;;) {
    const outcome = await call();
    if ('value' in outcome || !waits(outcome.refusal) || clock.now() - began > maxWaitMs) return outcome;
    await clock.sleep(pauseMs);
  }
}

/** Returns the deleted key. It may not be listed immediately. */
async function purge(vault: AzureVault, name: string, isDue: boolean): Promise<'purged' | 'protected' | 'missing'> {
  const outcome = await whileBeingDeleted(
    vault,
    () => vault.attempt((secrets) => secrets.purgeDeletedSecret(name)),
    (answer) => isBeingDeleted(answer) || (isDue && isSecretMissing(answer) && !answer.repeated),
  );
  if ('value' in outcome) return 'purged';
  if (isPurgeProtected(readFailure(outcome.refusal))) return 'protected';
  if (isSecretMissing(outcome.refusal)) return outcome.refusal.repeated ? 'purged' : 'missing';
  throw vault.error({ permission: 'Purge', key: name }, outcome.refusal);
}

function purgeProtected({ endpoint }: AzureVault, name: string): KeyError {
  return new KeyError(
    'refused',
    `the key vault ${endpoint} has purge protection, so the deleted key "${name}" stays until its retention ends: ` +
      `recover it ("az keyvault secret recover --name ${name} --vault-name …") or use another name`,
  );
}

function isBeingDeleted(answer: RemoteAnswer): boolean {
  return answer.status === 409 && readFailure(answer).inner === beingDeleted;
}
