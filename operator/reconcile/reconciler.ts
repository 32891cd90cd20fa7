import { workloadName, workloadOwner } from '../render/render-context.ts';
import { isDeclaredKind, type ResourceReference } from '../runtime/contract/workload.ts';
import { AcceptedRoots } from './tenant/accepted-roots.ts';
import { notReady, stalled } from './conditions.ts';
import { declaredPass, endUnread, waitingIn } from './managed/reconcile-managed.ts';
import { ForeignObject, tellConflict } from './foreign-object.ts';
import { endUnreadKeyService, keyServicePass } from './key-service/reconcile-key-service.ts';
import { objectKey, parseObjectKey, type Resources } from './resources.ts';
import type { Passes } from './context.ts';
import { providerPass } from './identity-provider/reconcile-identity-provider.ts';
import { Providers } from './identity-provider/providers.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { Rollouts } from './rollouts.ts';
import { StatusWriter } from './status-writer.ts';
import { tenantPass } from './tenant/reconcile-tenant.ts';

/**
 * observe, render, apply: makes what runs in one namespace equal to what is written there, one resource a pass. Passes of different
 * resources may run at once, those of one may not: its queue sees to that. A pass errors when it could not end; then it is tried again.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #passes: Passes;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#passes = {
      options,
      providers: new Providers(options),
      rollouts: new Rollouts(options),
      roots: new AcceptedRoots(options),
      status: new StatusWriter(options),
      keyServices: new Map(),
      keyServiceOf: new Map(),
    };
    options.runtime.onChange((workload) => this.#changed(workload));
  }

  /** Once, when the resources are known: takes note of rollouts that are under way, and asks for a pass of everything. */
  async start(): Promise<void> {
    const { runtime, resources, enqueue } = this.#options;
    const running = await runtime.observe();
    this.#passes.rollouts.adopt(running);
    const { tenants, identityProviders, kmsConfigs, declared, invalid } = resources();
    for (const name of kmsConfigs.keys()) enqueue({ kind: 'KMSConfig', name }, 0);
    for (const name of identityProviders.keys()) enqueue({ kind: 'IdentityProvider', name }, 0);
    for (const name of tenants.keys()) enqueue({ kind: 'Tenant', name }, 0);
    for (const { kind, metadata } of declared.values()) enqueue({ kind, name: metadata.name }, 0);
    for (const key of invalid.keys()) {
      const about = parseObjectKey(key);
      if (about !== undefined) enqueue(about, 0);
    }
    for (const { name } of running) {
      const owner = workloadOwner(name);
      if (owner !== undefined) enqueue(owner, 0);
    }
  }

  async reconcile(about: ResourceReference): Promise<void> {
    try {
      await this.#pass(about);
    } catch (error) {
      // Trying again and again would tell nobody: only a person can make room.
      if (!(error instanceof ForeignObject)) throw error;
      await tellConflict(about, error, this.#passes);
    }
  }

  async #pass(about: ResourceReference): Promise<void> {
    const resources = this.#options.resources();
    // What is being deleted is taken down by the garbage collector: whatever were made now would be in its way.
    if (isLeftToEnd(about, resources)) return;
    switch (about.kind) {
      case 'Tenant': {
        const tenant = resources.tenants.get(about.name);
        return tenant === undefined ? this.#gone(about, resources) : tenantPass(tenant, resources, this.#passes);
      }
      case 'KMSConfig': {
        const kms = resources.kmsConfigs.get(about.name);
        return kms === undefined ? this.#gone(about, resources) : keyServicePass(kms, resources, this.#passes);
      }
      case 'IdentityProvider': {
        const provider = resources.identityProviders.get(about.name);
        return provider === undefined ? this.#gone(about, resources) : providerPass(provider, resources, this.#passes);
      }
      case 'Bucket':
      case 'Policy':
      case 'PolicyBinding':
      case 'User':
      case 'AccessKey': {
        const declared = resources.declared.get(objectKey(about));
        return declared === undefined ? this.#gone(about, resources) : declaredPass(declared, resources, this.#passes);
      }
      default:
        return about.kind satisfies never;
    }
  }

  /** Checks that are under way end without being heard. */
  close(): void {
    this.#passes.providers.close();
  }

  #changed(workload: string): void {
    const owner = workloadOwner(workload);
    if (owner === undefined) return;
    this.#options.enqueue(owner);
    if (owner.kind !== 'Tenant') return;
    for (const kms of deletedKeyServices(this.#options.resources())) this.#options.enqueue(kms);
    // It may have become ready; who finds that it did not waits on.
    for (const about of waitingIn(owner.name, this.#options.resources(), this.#options)) this.#options.enqueue(about);
  }

  /** What vanished is removed; what never was good has a name to report under, and what runs of it is left alone. */
  async #gone(about: ResourceReference, resources: Resources): Promise<void> {
    const invalid = resources.invalid.get(objectKey(about));
    if (invalid !== undefined) {
      if (resources.deleting.has(objectKey(about)) && (await this.#endUnread(about, resources))) return;
      await this.#passes.status.put(about, [notReady('InvalidSpec', invalid), stalled('InvalidSpec', invalid)], {});
      return;
    }
    const { providers, keyServices, keyServiceOf } = this.#passes;
    if (about.kind === 'IdentityProvider') {
      providers.forgetCheck(about.name);
      await providers.forgetUnused(resources);
    }
    if (about.kind === 'Tenant' || about.kind === 'KMSConfig') await this.#remove(about);
    if (about.kind === 'KMSConfig') keyServices.delete(about.name);
    if (about.kind === 'Tenant') {
      const kms = keyServiceOf.get(about.name);
      keyServiceOf.delete(about.name);
      if (kms !== undefined) this.#options.enqueue({ kind: 'KMSConfig', name: kms });
      await providers.forgetUnused(resources);
      await this.#passes.roots.forget(about.name);
    }
  }

  async #endUnread({ kind, name }: ResourceReference, resources: Resources): Promise<boolean> {
    if (kind === 'KMSConfig') return endUnreadKeyService(name, resources, this.#passes);
    return isDeclaredKind(kind) && endUnread({ kind, name }, resources, this.#passes);
  }

  async #remove(about: ResourceReference): Promise<void> {
    const { runtime } = this.#options;
    const name = workloadName(about);
    this.#passes.rollouts.release(name);
    if ((await runtime.observeOne(name)) !== undefined) await runtime.remove(name);
  }
}

/** A KMSConfig that is being deleted is looked after until no tenant uses it. */
function isLeftToEnd(about: ResourceReference, { deleting }: Resources): boolean {
  return !isDeclaredKind(about.kind) && about.kind !== 'KMSConfig' && deleting.has(objectKey(about));
}

/** They wait for servers that run with them still. */
function deletedKeyServices({ kmsConfigs, deleting }: Resources): readonly ResourceReference[] {
  return [...kmsConfigs.keys()]
    .map((name) => ({ kind: 'KMSConfig', name }) as const)
    .filter((about) => deleting.has(objectKey(about)));
}
