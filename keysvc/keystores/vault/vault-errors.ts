import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';

const failure = z.object({ errors: z.array(z.string()) });

/** Returns the error text of a vault on one line. */
export function vaultSays(answer: RemoteAnswer): string {
  return quoted(tryJson(answer.text, failure)?.errors.join('; ') ?? answer.text);
}

interface VaultOperation {
  /** `https://vault.example.com:8200`, with the namespace where there is one. */
  readonly vault: string;
  readonly capability: string;
  /** The path in the API without `/v1/`: `kv/data/my-key`. */
  readonly path: string;
  readonly key?: string;
}

/**
 * Converts an unexpected answer to an error.
 *
 * @see https://developer.hashicorp.com/vault/api-docs#http-status-codes
 */
export function vaultError({ vault, capability, path, key }: VaultOperation, answer: RemoteAnswer): KeyError {
  const about = key === undefined ? '' : ` for the key "${key}"`;
  const says = vaultSays(answer);
  switch (answer.status) {
    case 403:
      return new KeyError(
        'refused',
        `the vault ${vault} refuses${about}: the policies of the login lack the capability "${capability}" on "${path}" (${says})`,
      );
    case 404:
      return new KeyError(
        'refused',
        `the vault ${vault} has no key-value engine behind "${path}"${about}: check keystore.vault.engine, version and namespace (${says})`,
      );
    case 307:
      return new KeyError(
        'unavailable',
        `the vault ${vault} is a standby that forwards nothing${about}: give the address of the active one`,
      );
    case 503:
      return new KeyError(
        'unavailable',
        /sealed/i.test(says)
          ? `the vault ${vault} is sealed: unseal it`
          : `the vault ${vault} is not available${about}: ${says}`,
      );
    default:
      return new KeyError(
        answer.status === 400 ? 'refused' : 'unavailable',
        `the vault ${vault} answers ${answer.status}${about}: ${says}`,
      );
  }
}
