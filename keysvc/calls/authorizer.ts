import type { Identity } from '../../protocol/key-service/identity.ts';
import { allowsPath } from '../../protocol/key-service/policy.ts';
import type { NamedPolicy } from '../config/config.ts';

/** An identity in the configuration. */
interface KnownIdentity {
  readonly identity: Identity;
  readonly admin: boolean;
  /** Absent for the superuser, who needs no policy. */
  readonly policy?: string;
}

/** Decides what an identity may call, by the configuration. */
export class Authorizer {
  readonly admin: Identity | undefined;
  readonly policies: readonly NamedPolicy[];
  readonly #policies = new Map<Identity, NamedPolicy>();

  constructor(admin: Identity | undefined, policies: readonly NamedPolicy[]) {
    this.admin = admin;
    this.policies = policies;
    for (const policy of policies) for (const identity of policy.identities) this.#policies.set(identity, policy);
  }

  isAdmin(identity: Identity): boolean {
    return identity === this.admin;
  }

  get identities(): KnownIdentity[] {
    const withPolicy = [...this.#policies].map(([identity, { name }]) => ({ identity, admin: false, policy: name }));
    return this.admin === undefined ? withPolicy : [{ identity: this.admin, admin: true }, ...withPolicy];
  }

  policyOf(identity: Identity): NamedPolicy | undefined {
    return this.#policies.get(identity);
  }

  /** Reports whether the identity may call the path. The superuser may call everything, an identity without a policy nothing. */
  allows(identity: Identity, path: string): boolean {
    if (this.isAdmin(identity)) return true;
    const policy = this.#policies.get(identity);
    return policy !== undefined && allowsPath(policy, path);
  }
}
