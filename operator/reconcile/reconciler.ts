import { isConflict } from '../api/resource-error.ts';
import { workloadName, workloadOwner } from '../render/render-context.ts';
import { isManagedKind, type ResourceRef } from '../contract/workload.ts';
import { AcceptedRoots } from './tenant/accepted-roots.ts';
import { notReady, stalled } from './conditions.ts';
import { reconcileManaged, releaseInvalid, waitingIn } from './managed/reconcile-managed.ts';
import { LastingFailures } from './lasting-failures.ts';
import { setConflictCondition, setFailureCondition } from './set-conflict-condition.ts';
import { releaseInvalidKeyService, reconcileKeyService } from './key-service/reconcile-key-service.ts';
import { objectKey, parseObjectKey, resourceOf, type Resources } from './resources.ts';
import type { SharedState } from './shared-state.ts';
import { reconcileIdentityProvider } from './identity-provider/reconcile-identity-provider.ts';
import { Providers } from './identity-provider/providers.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { Rollouts } from './rollouts.ts';
import { StatusWriter } from './status-writer.ts';
import { reconcileTenant } from './tenant/reconcile-tenant.ts';

/**
 * Makes the workloads of one namespace equal to its resources: observe, render, apply. Each call of `reconcile` handles one resource.
 * Calls for different resources may run at once, calls for one resource may not; the queue sees to that. After an error the queue retries.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #shared: SharedState;
  readonly #failing: LastingFailures;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#failing = new LastingFailures(options.now);
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

  /** Adopts rollouts that are under way and enqueues every resource. Call it once, when the resources are known. */
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
      await this.#dispatch(ref);
      this.#failing.succeeded(ref);
    } catch (error) {
      if (!isConflict(error)) {
        if (this.#failing.lasts(ref, this.#versionOf(ref))) await setFailureCondition(ref, error, this.#shared);
        throw error;
      }
      // A retry does not help: the user has to remove the conflict, and learns about it from the condition.
      this.#failing.succeeded(ref);
      await setConflictCondition(ref, error, this.#shared);
    }
  }

  /** Returns a text that differs between two specs of a resource, and between two resources of the same name. */
  #versionOf(ref: ResourceRef): string {
    const { status, resources } = this.#options;
    return `${status.generation(ref)} ${resourceOf(ref, resources())?.metadata.creationTimestamp}`;
  }

  async #dispatch(ref: ResourceRef): Promise<void> {
    const resources = this.#options.resources();
    // The garbage collector of Kubernetes takes a deleted resource down. New objects would be in its way.
    if (isLeftToGarbageCollection(ref, resources)) return;
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

  /** Ignores the results of checks that are under way. */
  close(): void {
    this.#shared.providers.close();
    this.#shared.rollouts.close();
  }

  #changed(workload: string): void {
    const owner = workloadOwner(workload);
    if (owner === undefined) return;
    this.#options.enqueue(owner);
    if (owner.kind !== 'Tenant') return;
    for (const kms of deletedKeyServices(this.#options.resources())) this.#options.enqueue(kms);
    // A hibernated tenant has no server for its buckets and users: they are no longer ready.
    const { managed, tenants } = this.#options.resources();
    if (tenants.get(owner.name)?.spec.hibernated === true) {
      for (const { kind, metadata, spec } of managed.values()) {
        if (spec.tenantRef.name === owner.name) this.#options.enqueue({ kind, name: metadata.name });
      }
    }
    // The tenant may have become ready. A resource that finds it is not waits again.
    for (const ref of waitingIn(owner.name, this.#options.resources(), this.#options)) this.#options.enqueue(ref);
  }

  /** Removes the workload of a resource that is gone. An invalid resource gets a condition, and its workload stays. */
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

/** A KMSConfig that is being deleted is reconciled until no tenant uses it. */
function isLeftToGarbageCollection(ref: ResourceRef, { deleting }: Resources): boolean {
  return !isManagedKind(ref.kind) && ref.kind !== 'KMSConfig' && deleting.has(objectKey(ref));
}

/** Key services that are being deleted wait for servers that still use them. */
function deletedKeyServices({ kmsConfigs, deleting }: Resources): readonly ResourceRef[] {
  return [...kmsConfigs.keys()]
    .map((name) => ({ kind: 'KMSConfig', name }) as const)
    .filter((ref) => deleting.has(objectKey(ref)));
}
