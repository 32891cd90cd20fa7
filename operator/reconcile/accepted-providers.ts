import { z } from 'zod';
import { identityProviderSpec } from '../api/identity-provider.ts';
import { metadata, type IdentityProvider, type Secret } from '../api/object.ts';
import type { AcceptedProvider } from '../render/render-identity-provider.ts';

/** The last version of a provider that passed its check, with its client secret: what servers run with until the next one passes. */
export interface Acceptance {
  readonly provider: IdentityProvider;
  readonly clientSecret: string;
  readonly digest: string;
}

const schema = z.record(
  z.string(),
  z.object({
    provider: z.object({ kind: z.literal('IdentityProvider'), metadata, spec: identityProviderSpec }),
    clientSecret: z.string(),
    digest: z.string(),
  }),
);

const secretKey = 'client-secret';

/** The Secret in which the operator keeps the client secret of an accepted provider. */
export function keptSecretName(provider: string): string {
  return `accepted-${provider}`;
}

/** Accepted providers by name. `save` keeps them beyond the life of the process; their secrets are in it. */
export class AcceptedProviders {
  readonly #accepted: Map<string, Acceptance>;
  readonly #save: (text: string) => Promise<void>;

  /** `saved` is what `save` was given last. Errors when it is not that. */
  constructor(saved: string | undefined, save: (text: string) => Promise<void>) {
    this.#accepted = new Map(Object.entries(saved === undefined ? {} : schema.parse(JSON.parse(saved))));
    this.#save = save;
  }

  get(name: string): Acceptance | undefined {
    return this.#accepted.get(name);
  }

  async accept(acceptance: Acceptance): Promise<void> {
    this.#accepted.set(acceptance.provider.metadata.name, acceptance);
    await this.#persist();
  }

  /** Forgets every provider but these. */
  async retain(names: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#accepted.keys()].filter((name) => !names.has(name));
    if (gone.length === 0) return;
    for (const name of gone) this.#accepted.delete(name);
    await this.#persist();
  }

  /** As the renderer takes it. */
  rendered(name: string): AcceptedProvider | undefined {
    const acceptance = this.#accepted.get(name);
    return acceptance && { provider: acceptance.provider, kept: { name: keptSecretName(name), key: secretKey } };
  }

  secrets(): readonly Secret[] {
    return [...this.#accepted].map(([name, { clientSecret }]) => ({
      name: keptSecretName(name),
      data: { [secretKey]: clientSecret },
    }));
  }

  async #persist(): Promise<void> {
    await this.#save(`${JSON.stringify(Object.fromEntries(this.#accepted))}\n`);
  }
}
