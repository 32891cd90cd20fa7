import { ResourceError, isConflict } from '../../api/resource-error.ts';
import type { IdentityProvider } from '../../api/object.ts';
import { configMapValue, secretValue } from '../../render/render-context.ts';
import { canonical } from '../../render/restart-inputs.ts';
import type { Acceptance } from './accepted-providers.ts';
import type { ProviderCheck } from './check-provider.ts';
import { conflictRetryMs } from '../set-conflict-condition.ts';
import { type KnownProvider, ProviderChecks } from './provider-checks.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';
import type { Issue } from '../workload-conditions.ts';
import type { Resources } from '../resources.ts';

type GoodCheck = Extract<ProviderCheck, { kind: 'good' }>;

/** The identity providers of a namespace: their checks, and the versions that passed. */
export class Providers {
  readonly #options: ReconcilerOptions;
  readonly #checks: ProviderChecks;
  readonly #reported = new Map<string, string>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#checks = new ProviderChecks({
      check: (provider, secret) => options.check(provider, secret),
      onResult: (name) => options.enqueue({ kind: 'IdentityProvider', name }, 0),
      now: () => options.now(),
      random: () => options.random(),
    });
  }

  /** Checks a new version, and accepts a version that passed. */
  async known(provider: IdentityProvider, resources: Resources): Promise<KnownProvider> {
    const { accepted, fingerprint } = this.#options;
    const { name } = provider.metadata;
    const contents = hostError(provider, this.#options.providerHosts) ?? contentsOf(provider, resources);
    if ('reason' in contents) return { provider, digest: '', current: false, state: { kind: 'broken', ...contents } };
    const { clientSecret, complete } = contents;
    const digest = fingerprint(canonical([complete.spec, clientSecret]));
    const found = this.#checks.state(complete, clientSecret, digest);
    const checked =
      found.kind === 'good' ? await this.#accept({ provider: complete, clientSecret, digest }, found) : found;
    const kept = accepted.get(name);
    const current = kept?.digest === digest;
    // After a start of the operator the stored result counts until the first check has ended, so that conditions do not flap.
    const state = checked.kind === 'pending' && current && kept.check !== undefined ? kept.check : checked;
    return { provider, state, digest, current };
  }

  /** Stores the version. Servers may not use a version that a conflict keeps from being stored. */
  async #accept(version: Acceptance, check: GoodCheck): Promise<ProviderCheck> {
    try {
      await this.#options.accepted.accept({ ...version, check });
      return check;
    } catch (error) {
      if (!isConflict(error)) throw error;
      this.#options.enqueue({ kind: 'IdentityProvider', name: version.provider.metadata.name }, conflictRetryMs);
      return { kind: 'broken', reason: 'Conflict', message: error.message };
    }
  }

  /** Returns the state of the existing providers of these names. */
  async knownOf(names: readonly string[], resources: Resources): Promise<ReadonlyMap<string, KnownProvider>> {
    const found = new Map<string, KnownProvider>();
    for (const name of names) {
      const provider = resources.identityProviders.get(name);
      if (provider !== undefined) found.set(name, await this.known(provider, resources));
    }
    return found;
  }

  /** Reports whether the state that tenants see has changed since the last call. */
  hasChanged({ provider, state, digest, current }: KnownProvider): boolean {
    const { name } = provider.metadata;
    const now = canonical([state, digest, current]);
    const before = this.#reported.get(name);
    this.#reported.set(name, now);
    return before !== now;
  }

  nextCheckInMs(name: string): number | undefined {
    return this.#checks.nextInMs(name);
  }

  /** Forgets the checks of a resource that is gone. A version that servers still use is kept. */
  forgetCheck(name: string): void {
    this.#checks.forget(name);
    this.#reported.delete(name);
  }

  /** Forgets versions whose provider is gone and that no tenant names. */
  async forgetUnused({ identityProviders, tenants, invalid }: Resources): Promise<void> {
    const { accepted } = this.#options;
    const gone = accepted
      .names()
      .filter((name) => !identityProviders.has(name) && !invalid.has(`IdentityProvider/${name}`));
    if (gone.length === 0) return;
    const named = new Set([...tenants.values()].flatMap(({ spec }) => spec.identityProviders ?? []).map((r) => r.name));
    for (const name of gone) if (!named.has(name)) await accepted.forget(name);
  }

  close(): void {
    this.#checks.close();
  }
}

/** Returns why no secret may be sent to this provider; undefined when it may. */
function hostError({ spec }: IdentityProvider, allowed: readonly string[] = []): Issue | undefined {
  if (allowed.length === 0) return undefined;
  const rejected = [spec.configUrl, spec.adminUrl ?? spec.configUrl]
    .map((address) => (URL.canParse(address) ? new URL(address).hostname : address))
    .find(
      (host) =>
        !allowed.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)),
    );
  if (rejected === undefined) return undefined;
  return {
    reason: 'HostNotAllowed',
    message: `the operator asks no provider at ${rejected}: the hosts it may ask (--allowed-provider-host) are ${allowed.join(', ')}`,
  };
}

/**
 * Returns the client secret and the provider with its CA certificates filled in: a version is checked and stored as a whole. Answers the
 * problem when a reference is missing.
 */
function contentsOf(
  provider: IdentityProvider,
  { secrets, configMaps }: Resources,
): Issue | { readonly clientSecret: string; readonly complete: IdentityProvider } {
  const { caBundleFrom, ...spec } = provider.spec;
  const field = (name: string) => `${name} of IdentityProvider ${provider.metadata.name}`;
  try {
    const clientSecret = secretValue(secrets, spec.clientSecretRef, field('spec.clientSecretRef'), 'identity-provider');
    const { configMapKeyRef, secretKeyRef } = caBundleFrom ?? {};
    const caBundle =
      configMapKeyRef !== undefined
        ? configMapValue(configMaps, configMapKeyRef, field('spec.caBundleFrom'))
        : secretKeyRef && secretValue(secrets, secretKeyRef, field('spec.caBundleFrom'), 'ca-bundle');
    const complete = { ...provider, spec: caBundle === undefined ? spec : { ...spec, caBundle } };
    return { clientSecret, complete };
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    return { reason: error.code, message: error.message };
  }
}
