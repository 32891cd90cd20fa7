import { KeyStoreError } from '../keystore.ts';
import { isLoopback } from '../remote/endpoint.ts';

/** What a vault says that it wants a token of. */
export interface Challenge {
  /** The authority and tenant that the vault trusts: `https://login.microsoftonline.com/TENANT`. */
  readonly authority: string;
  /** `https://vault.azure.net/.default` */
  readonly scope: string;
}

/**
 * Reads the challenge of a 401. The resource must be the vault's own domain: a token for anything else is none of this server's
 * business, and one sent to a false vault would be a gift.
 *
 * Errors with `refused`.
 *
 * @see https://learn.microsoft.com/azure/key-vault/general/authentication-requests-and-responses
 * @see https://aka.ms/azsdk/blog/vault-uri
 */
export function readChallenge(header: string | null, endpoint: string): Challenge {
  const fields = new Map<string, string>();
  for (const [, name, value] of (header ?? '').matchAll(/(\w+)="([^"]*)"/g)) fields.set(name ?? '', value ?? '');
  const authority = fields.get('authorization') ?? fields.get('authorization_uri');
  const wanted = fields.get('scope') ?? fields.get('resource');
  if (authority === undefined || wanted === undefined || !URL.canParse(wanted)) {
    throw new KeyStoreError(
      'refused',
      `${endpoint} asks for no token that Azure Key Vault would ask for: is it the address of a key vault?`,
    );
  }
  const domain = new URL(wanted).hostname;
  const host = new URL(endpoint).hostname;
  if (!host.endsWith(`.${domain}`) && !isLoopback(endpoint)) {
    throw new KeyStoreError(
      'refused',
      `${endpoint} asks for a token of ${domain}, which is not its own domain: none was sent. Check keystore.azure.keyvault.endpoint.`,
    );
  }
  return { authority, scope: wanted.endsWith('/.default') ? wanted : `${wanted.replace(/\/$/, '')}/.default` };
}
