import type { Identity } from '../../protocol/key-service/identity.ts';
import { allowsPath } from '../../protocol/key-service/policy.ts';
import type { NamedPolicy } from '../config/config.ts';

/** What an identity may do, by the configuration. */
export class Authorizer {
  readonly #admin: Identity | undefined;
  readonly #policies = new Map<Identity, NamedPolicy>();

  constructor(admin: Identity | undefined, policies: readonly NamedPolicy[]) {
    this.#admin = admin;
    for (const policy of policies) for (const identity of policy.identities) this.#policies.set(identity, policy);
  }

  isAdmin(identity: Identity): boolean {
    return identity === this.#admin;
  }

  policyOf(identity: Identity): NamedPolicy | undefined {
    return this.#policies.get(identity);
  }

  /** Whether the identity may call the path. Everything for the superuser, nothing for who has no policy. */
  allows(identity: Identity, path: string): boolean {
    if (this.isAdmin(identity)) return true;
    const policy = this.#policies.get(identity);
    return policy !== undefined && allowsPath(policy, path);
  }
}
