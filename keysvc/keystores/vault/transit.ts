import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { readJson } from '../remote/json-answer.ts';
import type { VaultClient } from './vault-client.ts';

const encrypted = z.object({ data: z.object({ ciphertext: z.string().regex(sealedForm()) }) });
const decrypted = z.object({ data: z.object({ plaintext: z.base64() }) });

/** The form of a record that the transit engine has sealed; the number is the version of its key. */
function sealedForm(): RegExp {
  return /^vault:v\d+:/;
}

/** Seals the records of keys with a key of Vault's transit engine, before they are written to the key-value engine. */
export interface TransitSettings {
  /** The path of the engine. */
  readonly engine: string;
  /** The name of the key in the engine. */
  readonly key: string;
}

/**
 * Seals a record where the settings have a transit key.
 *
 * @see https://developer.hashicorp.com/vault/api-docs/secret/transit#encrypt-data
 */
export async function sealRecord(
  client: VaultClient,
  transit: TransitSettings | undefined,
  name: string,
  record: Buffer,
): Promise<Buffer> {
  if (transit === undefined) return record;
  const path = `${transit.engine}/encrypt/${transit.key}`;
  const body = { plaintext: record.toString('base64') };
  const answer = await client.expect({ method: 'POST', path, body, capability: 'update', key: name }, 200);
  return Buffer.from(readJson(answer.text, encrypted, `the vault ${client.name}`).data.ciphertext, 'utf8');
}

/**
 * Opens a record that the transit engine has sealed. A record in plain form, from before the setting, is returned as it is.
 *
 * @throws KeyError `refused` for a sealed record without a transit key
 * @see https://developer.hashicorp.com/vault/api-docs/secret/transit#decrypt-data
 */
export async function openRecord(
  client: VaultClient,
  transit: TransitSettings | undefined,
  name: string,
  record: Buffer,
): Promise<Buffer> {
  const ciphertext = record.toString('utf8');
  if (!sealedForm().test(ciphertext)) return record;
  if (transit === undefined) {
    throw new KeyError(
      'refused',
      `the key "${name}" in the vault ${client.name} is sealed by a transit engine: name its key by keystore.vault.transit`,
    );
  }
  const path = `${transit.engine}/decrypt/${transit.key}`;
  const answer = await client.expect(
    { method: 'POST', path, body: { ciphertext }, capability: 'update', key: name },
    200,
  );
  return Buffer.from(readJson(answer.text, decrypted, `the vault ${client.name}`).data.plaintext, 'base64');
}
