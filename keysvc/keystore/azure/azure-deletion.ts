import { z } from 'zod';
import { readJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';
import { isPurgeProtected, readFailure } from './azure-errors.ts';
import { secretAttributes } from './azure-listing.ts';
import type { AzureCall, AzureVault } from './azure-vault.ts';

/** A deletion is carried out in the background, for some seconds. */
const longestMs = 60_000;
const pauseMs = 500;

const deleted = z.object({ attributes: secretAttributes.optional() });

/**
 * Deletes a key and purges it where the vault lets anybody. One that was deleted before, and can still be recovered, is purged.
 * Whether there was one.
 *
 * @see https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
 */
export async function deleteSecret(vault: AzureVault, name: string): Promise<boolean> {
  const call: AzureCall = { method: 'DELETE', path: `/secrets/${name}`, permission: 'Delete', key: name };
  const answer = await whileBeingDeleted(vault, call);
  if (answer.status !== 200 && answer.status !== 404) throw vault.error(call, answer);
  if (answer.status === 404) return (await purge(vault, name, false)) || answer.repeated;
  const level = readJson(answer.text, deleted, `the key vault ${vault.endpoint}`).attributes?.recoveryLevel ?? '';
  // Without soft delete it is gone, and with purge protection nobody can make it go before its time.
  const isOver = level === 'Purgeable' || (level !== '' && !level.includes('Purgeable'));
  if (!isOver) await purge(vault, name, true);
  return true;
}

/** Asks until the vault is through with a deletion that it has begun, or takes too long for it. */
export async function whileBeingDeleted(
  vault: AzureVault,
  call: AzureCall,
  waits: (answer: RemoteAnswer) => boolean = isBeingDeleted,
): Promise<RemoteAnswer> {
  const { clock } = vault.remote;
  const began = clock.now();
  for (;;) {
    const answer = await vault.ask(call);
    if (!waits(answer) || clock.now() - began > longestMs) return answer;
    await clock.sleep(pauseMs);
  }
}

/** Whether something was there. A key that was deleted just now may not be seen among the deleted ones at once. */
async function purge(vault: AzureVault, name: string, isDue: boolean): Promise<boolean> {
  const call: AzureCall = { method: 'DELETE', path: `/deletedsecrets/${name}`, permission: 'Purge', key: name };
  const answer = await whileBeingDeleted(
    vault,
    call,
    (answer) => isBeingDeleted(answer) || (isDue && answer.status === 404 && !answer.repeated),
  );
  if (answer.status === 204 || isPurgeProtected(readFailure(answer))) return true;
  if (answer.status !== 404) throw vault.error(call, answer);
  return answer.repeated;
}

function isBeingDeleted(answer: RemoteAnswer): boolean {
  return answer.status === 409 && readFailure(answer).inner === 'ObjectIsBeingDeleted';
}
