import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';

const failure = z.object({ errors: z.array(z.string()) });

/** Reports whether a failure has the form of a vault's. That of a proxy before it has not. */
export function isVaultFailure(answer: RemoteAnswer): boolean {
  return tryJson(answer.text, failure) !== undefined;
}

/** Returns the error text of a vault on one line. */
export function vaultSays(answer: RemoteAnswer): string {
  return quoted(tryJson(answer.text, failure)?.errors.join('; ') ?? answer.text);
}

/**
 * Reports whether a vault says in its own words that there is nothing at a path. A proxy before the vault has other words, and a vault without
 * an engine at the path names the missing route.
 *
 * @see https://developer.hashicorp.com/vault/api-docs#error-response
 */
export function saysNothingThere(answer: RemoteAnswer): boolean {
  if (answer.status !== 404) return false;
  const found = tryJson(answer.text, absence);
  return found !== undefined && found.errors.length === 0 && (found.warnings?.length ?? 0) === 0;
}

const absence = z.object({ errors: z.array(z.string()), warnings: z.array(z.string()).nullish() });

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
  if (!isVaultFailure(answer)) {
    return new KeyError(
      'unavailable',
      `the vault ${vault} answers ${answer.status}${about}, and not in the words of a vault: is a proxy before it, and the endpoint right? (${says})`,
    );
  }
  switch (answer.status) {
    case 403:
      return new KeyError(
        'refused',
        `the vault ${vault} refuses${about}: the policies of the login lack the capability "${capability}" on "${path}" (${says})`,
        { lacksPermission: true },
      );
    case 404:
      // The engine may be disabled for a moment, so this says nothing about the key.
      return new KeyError(
        'unavailable',
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
      return new KeyError('unavailable', `the vault ${vault} answers ${answer.status}${about}: ${says}`);
  }
}
