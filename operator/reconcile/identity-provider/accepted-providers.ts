import { z } from 'zod';
import { identityProviderSpec } from '../../api/identity-provider.ts';
import { metadata, type IdentityProvider } from '../../api/object.ts';
import { type Secret } from '../../contract/secret.ts';
import { canonical } from '../../render/restart-inputs.ts';
import type { ProviderCheck } from './check-provider.ts';
import type { AcceptedProvider } from '../../render/render-identity-provider.ts';

/** The last version of a provider that passed its check, with its client secret: what servers run with until the next one passes. */
export interface Acceptance {
  readonly provider: IdentityProvider;
  readonly clientSecret: string;
  readonly digest: string;
  /** The result of the check. */
  readonly check?: Extract<ProviderCheck, { kind: 'good' }>;
}

/** Keeps acceptances beyond the life of the process, each by itself. What is kept holds a secret. */
export interface AcceptanceStore {
  /** By provider, what `save` was given last. */
  load(): ReadonlyMap<string, string>;
  save(provider: string, text: string): Promise<void>;
  /** Resolves where there is none. */
  remove(provider: string): Promise<void>;
}

const schema = z.object({
  // An object that a later version of the operator wrote may have more fields than this one knows.
  provider: z.object({ kind: z.literal('IdentityProvider'), metadata: metadata.loose(), spec: identityProviderSpec }),
  clientSecret: z.string(),
  digest: z.string(),
  check: z.object({ kind: z.literal('good'), issuer: z.string(), warnings: z.array(z.string()) }).optional(),
});

const secretKey = 'client-secret';

/** The Secret in which the operator keeps the client secret of an accepted provider. */
export function keptSecretName(provider: string): string {
  return `${provider}-accepted`;
}

/** Accepted providers of a namespace by name. */
export class AcceptedProviders {
  readonly #accepted = new Map<string, Acceptance>();
  readonly #store: AcceptanceStore;

  /** A record that cannot be read counts as none: the provider is checked again before it is used. */
  constructor(store: AcceptanceStore) {
    this.#store = store;
    for (const [name, text] of store.load()) {
      const acceptance = parseAcceptance(text);
      if (acceptance !== undefined) this.#accepted.set(name, acceptance);
    }
  }

  get(name: string): Acceptance | undefined {
    return this.#accepted.get(name);
  }

  names(): readonly string[] {
    return [...this.#accepted.keys()];
  }

  /** Errors when it could not be kept; then it is not accepted, and the next pass tries again. */
  async accept(acceptance: Acceptance): Promise<void> {
    const { name } = acceptance.provider.metadata;
    const before = this.#accepted.get(name);
    if (before?.digest === acceptance.digest && canonical(before.check) === canonical(acceptance.check)) return;
    await this.#store.save(name, `${JSON.stringify(acceptance)}\n`);
    this.#accepted.set(name, acceptance);
  }

  async forget(name: string): Promise<void> {
    if (!this.#accepted.has(name)) return;
    await this.#store.remove(name);
    this.#accepted.delete(name);
  }

  /** As the renderer takes it. */
  rendered(name: string): AcceptedProvider | undefined {
    const acceptance = this.#accepted.get(name);
    return acceptance && { provider: acceptance.provider, kept: { name: keptSecretName(name), key: secretKey } };
  }

  secret(name: string): Secret | undefined {
    const acceptance = this.#accepted.get(name);
    return acceptance && { name: keptSecretName(name), data: { [secretKey]: acceptance.clientSecret } };
  }
}

function parseAcceptance(text: string): Acceptance | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
