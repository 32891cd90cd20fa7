import { eachKind } from '../../../operator/api/kinds.ts';
import type { CofferObject } from '../../../operator/api/object.ts';
import type { Secret } from '../../../operator/contract/secret.ts';
import { manifestOf, type Spec } from './rules/rule-cases.ts';
import { validate } from '../../../operator/api/validate.ts';
import type { ResourceKind, ResourceRef } from '../../../operator/contract/workload.ts';
import { AcceptedProviders } from '../../../operator/reconcile/identity-provider/accepted-providers.ts';
import type { ProviderCheck } from '../../../operator/reconcile/identity-provider/check-provider.ts';
import type { ResourceStatus } from '../../../operator/reconcile/conditions.ts';
import type { OperatorEvent, ReconcilerOptions } from '../../../operator/reconcile/reconciler-options.ts';
import { objectKey, parseObjectKey, byKind, type Resources } from '../../../operator/reconcile/resources.ts';
import { Reconciler } from '../../../operator/reconcile/reconciler.ts';
import { RecordingRuntime } from './recording-runtime.ts';
import { RolloutLimit } from '../../../operator/reconcile/rollout-limit.ts';

export const good: ProviderCheck = { kind: 'good', issuer: 'https://id', warnings: [] };
export const broken: ProviderCheck = { kind: 'broken', reason: 'NotFound', message: 'answered 404' };

/** For tests: a namespace whose queue is worked off by `settle`, and whose clock stands still. */
export class Namespace {
  runtime = new RecordingRuntime();
  objects: readonly CofferObject[] = [];
  secrets: readonly Secret[] = [
    { name: 'client', data: { secret: 'one' } },
    { name: 'database', data: { url: 'postgres://coffer@database/coffer' } },
  ];
  readonly invalid = new Map<string, string>();
  readonly deleting = new Set<string>();
  readonly events: OperatorEvent[] = [];
  readonly statuses = new Map<string, ResourceStatus>();
  /** What was written, each time that something changed. */
  readonly writes: string[] = [];
  readonly accepted = new Map<string, string>();
  readonly acceptedRoots = new Map<string, Readonly<Record<string, string>>>();
  /** The root credentials of every tenant. */
  root: Readonly<Record<string, string>> = { rootUser: 'admin', rootPassword: 'root-password' };
  readonly errors: string[] = [];
  /** What of the statuses that were written their schemas do not have. */
  readonly misfits: string[] = [];
  /** Passes that were taken, by `Kind/name`. */
  readonly reconciled: string[] = [];
  readonly counted: string[] = [];
  readonly clock = { ms: 0 };
  limit = new RolloutLimit({ now: () => new Date(this.clock.ms) });
  generation = 1;
  verdict: (configUrl: string) => ProviderCheck | Promise<ProviderCheck> = (url) =>
    url.includes('/good/') ? good : broken;
  readonly #pending = new Set<string>();
  /** Passes that were asked for later, with their milliseconds. */
  readonly later = new Map<string, number>();

  open(more: Partial<ReconcilerOptions> = {}): Reconciler {
    return new Reconciler({
      namespace: 'test',
      resources: () => this.resources(),
      runtime: this.runtime,
      accepted: new AcceptedProviders({
        load: () => this.accepted,
        save: (name, text) => Promise.resolve(void this.accepted.set(name, text)),
        remove: (name) => Promise.resolve(void this.accepted.delete(name)),
      }),
      rootCredentials: () => Promise.resolve({ name: 'root', data: this.root }),
      acceptedRoots: {
        load: (name) => Promise.resolve(this.acceptedRoots.get(name)),
        save: (name, data) => Promise.resolve(void this.acceptedRoots.set(name, data)),
        remove: (name) => Promise.resolve(void this.acceptedRoots.delete(name)),
      },
      credentials: () => Promise.resolve({ name: 'keys', data: { secretKey: 'a-secret-key' } }),
      check: async ({ spec }) => this.verdict(spec.configUrl),
      fingerprint: (value) => value,
      status: {
        get: (ref) => this.statuses.get(objectKey(ref)),
        generation: () => this.generation,
        put: (ref, status) => Promise.resolve(this.#put(ref, status)),
      },
      event: (event) => this.events.push(event),
      enqueue: (ref, afterMs = 0) => this.#enqueue(objectKey(ref), afterMs),
      tenantUids: { uidOf: (name) => `uid-of-${name}`, find: () => undefined },
      rolloutLimit: this.limit,
      counters: {
        rollout: (reason) => this.counted.push(`rollout ${reason}`),
        blocked: (blocker) => this.counted.push(`blocked ${blocker}`),
      },
      now: () => new Date(this.clock.ms),
      random: () => 0.5,
      ...more,
    });
  }

  /** Works the queue off, and what checks that end add to it. Errors of a pass are kept. */
  async settle(reconciler: Reconciler): Promise<void> {
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const key of this.#pending) {
        idle = 0;
        this.#pending.delete(key);
        this.reconciled.push(key);
        const ref = parseObjectKey(key);
        if (ref === undefined) continue;
        await reconciler.reconcile(ref).catch((error: unknown) => this.errors.push(String(error)));
      }
    }
    if (this.misfits.length > 0) throw new Error(this.misfits.join('; '));
  }

  /** Starts, lets everything become ready, and forgets what was told so far. */
  async started(...objects: readonly CofferObject[]): Promise<Reconciler> {
    const reconciler = this.open();
    this.objects = objects;
    await reconciler.start();
    await this.settle(reconciler);
    for (let turn = 0; turn < 2; turn++) await this.allReady(reconciler);
    this.forget();
    return reconciler;
  }

  async allReady(reconciler: Reconciler): Promise<void> {
    for (const name of this.runtime.running.keys()) this.runtime.become(name, 'ready');
    await this.settle(reconciler);
  }

  async change(reconciler: Reconciler, ...objects: readonly CofferObject[]): Promise<void> {
    const before = this.objects;
    this.objects = objects;
    for (const { kind, metadata } of [...before, ...objects])
      this.#enqueue(objectKey({ kind, name: metadata.name }), 0);
    await this.settle(reconciler);
  }

  forget(): void {
    for (const list of [
      this.runtime.told,
      this.events,
      this.writes,
      this.reconciled,
      this.counted,
      this.runtime.asked,
    ]) {
      list.length = 0;
    }
  }

  conditions(key: string): readonly string[] | undefined {
    return this.statuses.get(key)?.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  }

  restarts(): readonly string[] {
    return this.events
      .filter(({ message }) => message.startsWith('restarts'))
      .map(({ reason, message }) => `${reason} ${message}`);
  }

  resources(): Resources {
    return {
      ...byKind(this.objects),
      secrets: new Map(this.secrets.map((secret) => [secret.name, secret])),
      configMaps: new Map(),
      invalid: this.invalid,
      deleting: this.deleting,
    };
  }

  #enqueue(key: string, afterMs: number): void {
    if (afterMs > 0) this.later.set(key, afterMs);
    else this.#pending.add(key);
  }

  #put(ref: ResourceRef, status: ResourceStatus): void {
    const key = objectKey(ref);
    this.misfits.push(...statusMisfits(ref.kind, status));
    if (JSON.stringify(this.statuses.get(key)) !== JSON.stringify(status)) this.writes.push(key);
    this.statuses.set(key, status);
  }
}

const statuses = new Map(eachKind(({ kind, status }) => [kind, status] as const));

/** For tests: what of a status the schema of its kind does not have, or refuses. */
export function statusMisfits(kind: ResourceKind, status: object): readonly string[] {
  const parsed = statuses.get(kind)?.safeParse(JSON.parse(JSON.stringify(status)));
  return parsed?.error?.issues.map(({ path, message }) => `status of ${kind}: ${path.join('.')}: ${message}`) ?? [];
}

export function made<Kind extends CofferObject['kind']>(
  kind: Kind,
  name: string,
  spec: Spec,
): Extract<CofferObject, { kind: Kind }> {
  const result = validate(manifestOf(kind, name, spec));
  if (result.kind !== 'object') throw new Error(JSON.stringify(result));
  return result.object as Extract<CofferObject, { kind: Kind }>;
}
export const tenant = (spec: Spec = {}, name = 'demo') => made('Tenant', name, spec);
export const provider = (name: string, realm = 'good', spec: Spec = {}) =>
  made('IdentityProvider', name, {
    configUrl: `https://id/realms/${realm}/.well-known/openid-configuration`,
    // Two providers of a tenant need clients of their own.
    clientId: name === 'primary-iam' ? 'coffer' : `coffer-${name}`,
    clientSecretRef: { name: 'client', key: 'secret' },
    ...spec,
  });
export const kms = (spec: Spec = {}, name = 'keys') =>
  made('KMSConfig', name, { keystore: { files: {} }, defaultKey: 'first', ...spec });
