import { workloadName, workloadOwner } from '../render/render-context.ts';
import { isManagedKind, type ResourceRef } from '../runtime/contract/workload.ts';
import { AcceptedRoots } from './tenant/accepted-roots.ts';
import { notReady, stalled } from './conditions.ts';
import { reconcileManaged, releaseInvalid, waitingIn } from './managed/reconcile-managed.ts';
import { ForeignObject, setConflictCondition } from './foreign-object.ts';
import { releaseInvalidKeyService, reconcileKeyService } from './key-service/reconcile-key-service.ts';
import { objectKey, parseObjectKey, type Resources } from './resources.ts';
import type { SharedState } from './shared-state.ts';
import { reconcileIdentityProvider } from './identity-provider/reconcile-identity-provider.ts';
import { Providers } from './identity-provider/providers.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { Rollouts } from './rollouts.ts';
import { StatusWriter } from './status-writer.ts';
import { reconcileTenant } from './tenant/reconcile-tenant.ts';

/**
 * observe, render, apply: makes what runs in one namespace equal to what is written there, one resource a pass. Passes of different
 * resources may run at once, those of one may not: its queue sees to that. A pass errors when it could not end; then it is tried again.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #shared: SharedState;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#shared = {
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
    this.#shared.rollouts.adopt(running);
    const { tenants, identityProviders, kmsConfigs, managed, invalid } = resources();
    for (const name of kmsConfigs.keys()) enqueue({ kind: 'KMSConfig', name }, 0);
    for (const name of identityProviders.keys()) enqueue({ kind: 'IdentityProvider', name }, 0);
    for (const name of tenants.keys()) enqueue({ kind: 'Tenant', name }, 0);
    for (const { kind, metadata } of managed.values()) enqueue({ kind, name: metadata.name }, 0);
    for (const key of invalid.keys()) {
      const ref = parseObjectKey(key);
      if (ref !== undefined) enqueue(ref, 0);
    }
    for (const { name } of running) {
      const owner = workloadOwner(name);
      if (owner !== undefined) enqueue(owner, 0);
    }
  }

  async reconcile(ref: ResourceRef): Promise<void> {
    try {
      await this.#pass(ref);
    } catch (error) {
      // Trying again and again would tell nobody: only a person can make room.
      if (!(error instanceof ForeignObject)) throw error;
      await setConflictCondition(ref, error, this.#shared);
    }
  }

  async #pass(ref: ResourceRef): Promise<void> {
    const resources = this.#options.resources();
    // What is being deleted is taken down by the garbage collector: whatever were made now would be in its way.
    if (isLeftToEnd(ref, resources)) return;
    switch (ref.kind) {
      case 'Tenant': {
        const tenant = resources.tenants.get(ref.name);
        return tenant === undefined ? this.#gone(ref, resources) : reconcileTenant(tenant, resources, this.#shared);
      }
      case 'KMSConfig': {
        const kms = resources.kmsConfigs.get(ref.name);
        return kms === undefined ? this.#gone(ref, resources) : reconcileKeyService(kms, resources, this.#shared);
      }
      case 'IdentityProvider': {
        const provider = resources.identityProviders.get(ref.name);
        return provider === undefined
          ? this.#gone(ref, resources)
          : reconcileIdentityProvider(provider, resources, this.#shared);
      }
      case 'Bucket':
      case 'Policy':
      case 'PolicyBinding':
      case 'User':
      case 'AccessKey': {
        const managed = resources.managed.get(objectKey(ref));
        return managed === undefined ? this.#gone(ref, resources) : reconcileManaged(managed, resources, this.#shared);
      }
      default:
        return ref.kind satisfies never;
    }
  }

  /** Checks that are under way end without being heard. */
  close(): void {
    this.#shared.providers.close();
  }

  #changed(workload: string): void {
    const owner = workloadOwner(workload);
    if (owner === undefined) return;
    this.#options.enqueue(owner);
    if (owner.kind !== 'Tenant') return;
    for (const kms of deletedKeyServices(this.#options.resources())) this.#options.enqueue(kms);
    // It may have become ready; who finds that it did not waits on.
    for (const ref of waitingIn(owner.name, this.#options.resources(), this.#options)) this.#options.enqueue(ref);
  }

  /** What vanished is removed; what never was good has a name to report under, and what runs of it is left alone. */
  async #gone(ref: ResourceRef, resources: Resources): Promise<void> {
    const invalid = resources.invalid.get(objectKey(ref));
    if (invalid !== undefined) {
      if (resources.deleting.has(objectKey(ref)) && (await this.#releaseInvalid(ref, resources))) return;
      await this.#shared.status.put(ref, [notReady('InvalidSpec', invalid), stalled('InvalidSpec', invalid)], {});
      return;
    }
    const { providers, keyServices, keyServiceOf } = this.#shared;
    if (ref.kind === 'IdentityProvider') {
      providers.forgetCheck(ref.name);
      await providers.forgetUnused(resources);
    }
    if (ref.kind === 'Tenant' || ref.kind === 'KMSConfig') await this.#remove(ref);
    if (ref.kind === 'KMSConfig') keyServices.delete(ref.name);
    if (ref.kind === 'Tenant') {
      const kms = keyServiceOf.get(ref.name);
      keyServiceOf.delete(ref.name);
      if (kms !== undefined) this.#options.enqueue({ kind: 'KMSConfig', name: kms });
      await providers.forgetUnused(resources);
      await this.#shared.roots.forget(ref.name);
    }
  }

  async #releaseInvalid({ kind, name }: ResourceRef, resources: Resources): Promise<boolean> {
    if (kind === 'KMSConfig') return releaseInvalidKeyService(name, resources, this.#shared);
    return isManagedKind(kind) && releaseInvalid({ kind, name }, resources, this.#shared);
  }

  async #remove(ref: ResourceRef): Promise<void> {
    const { runtime } = this.#options;
    const name = workloadName(ref);
    this.#shared.rollouts.release(name);
    if ((await runtime.observeOne(name)) !== undefined) await runtime.remove(name);
  }
}

/** A KMSConfig that is being deleted is looked after until no tenant uses it. */
function isLeftToEnd(ref: ResourceRef, { deleting }: Resources): boolean {
  return !isManagedKind(ref.kind) && ref.kind !== 'KMSConfig' && deleting.has(objectKey(ref));
}

/** They wait for servers that run with them still. */
function deletedKeyServices({ kmsConfigs, deleting }: Resources): readonly ResourceRef[] {
  return [...kmsConfigs.keys()]
    .map((name) => ({ kind: 'KMSConfig', name }) as const)
    .filter((ref) => deleting.has(objectKey(ref)));
}
