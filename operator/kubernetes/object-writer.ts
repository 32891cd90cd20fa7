import { KubeError, type Cache, type KubeApi, type KubeObject } from '../kube/kube-api.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
import { withoutForeign } from '../kube/foreign-fields.ts';
import type { Json } from '../workload.ts';
import { driftOf, type Drift } from './drift.ts';
import { canonical } from '../render/restart-inputs.ts';
import { atSentPlaces, hasAll, same } from './difference.ts';
import { appliedAnnotation } from './objects/labels.ts';
import { immutableFields } from './objects/stateful-set.ts';
import { ownershipOf } from './ownership.ts';
import { asRefusal } from './refusal.ts';

export interface ObjectWriterOptions {
  readonly api: KubeApi;
  /** Keyed: the digest of a Secret is an annotation of it, which more people may read than its values. */
  readonly fingerprint: (value: string) => string;
  /** Called with what was put back. */
  readonly drifted?: (object: KubeObject, drift: Drift) => void;
}

const sentBack: ReadonlySet<string> = new Set([...immutableFields, 'template']);

const disownAttempts = 5;

/** Something that is on its way out has to be gone first; the change of its cache brings the next attempt. */
export class StillBeingDeleted extends Error {
  override readonly name = 'StillBeingDeleted';
}

/** Makes live objects equal to wanted ones, and writes nothing where they are. */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  /** How the API server spelled what was sent last, by kind and name: `1000m` of CPU comes back as `1`. */
  readonly #spelled = new Map<string, { readonly digest: string; readonly places: unknown }>();

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  /**
   * Answers the live object. Errors with `ForeignObject`, `RefusedObject` and `StillBeingDeleted`, and with a `KubeError`. `cache` is that of its
   * kind; an object that it lacks is asked for, since it holds what the operator made and nothing else.
   */
  async ensure(wanted: KubeObject, cache: Cache): Promise<KubeObject> {
    const { fingerprint } = this.#options;
    const live = await this.find(cache, wanted.metadata.namespace ?? '', wanted.metadata.name);
    if (live !== undefined) this.#check(live, wanted);
    const digest = fingerprint(canonical(ownWords(wanted)));
    const key = keyOf(wanted);
    const drift = live === undefined ? undefined : driftOf(live, wanted);
    if (live !== undefined && drift !== undefined) await this.#undo(live, drift, cache);
    else if (live !== undefined && this.#isAsSent(live, wanted, digest)) return live;
    const { annotations } = wanted.metadata;
    const metadata = { ...wanted.metadata, annotations: { ...annotations, [appliedAnnotation]: digest } };
    const answer = await this.#send({ ...wanted, metadata });
    cache.wrote(answer);
    this.#spelled.set(key, { digest, places: atSentPlaces(answer, wanted) });
    return answer;
  }

  async find(cache: Cache, namespace: string, name: string): Promise<KubeObject | undefined> {
    return cache.get(namespace, name) ?? (await this.#options.api.get(cache.type, namespace, name));
  }

  /** Deletes this very object, not one that took its name since. */
  async remove(object: KubeObject, cache: Cache): Promise<void> {
    const { namespace = '', name, uid } = object.metadata;
    if (object.metadata.deletionTimestamp !== undefined) return;
    this.#spelled.delete(keyOf(object));
    await this.#options.api.delete(cache.type, namespace, name, uid === undefined ? {} : { uid });
  }

  /**
   * Puts back what others wrote, and takes their entries out of the managed fields together with the one that this makes: a field with
   * another owner would outlive the day on which the operator no longer sends it.
   */
  async #undo(live: KubeObject, drift: Drift, cache: Cache): Promise<void> {
    const { api, drifted } = this.#options;
    const { namespace, name, resourceVersion } = live.metadata;
    try {
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      const patch = { ...(drift.patch as object), metadata } as Json;
      await this.#disown(await api.patch(cache.type, namespace, name, patch), cache);
    } catch (error) {
      throw asRefusal(error, live);
    }
    drifted?.(live, drift);
  }

  /** Controllers write the status of what was just changed: then it is read again. */
  async #disown(object: KubeObject, cache: Cache): Promise<void> {
    const { api } = this.#options;
    let now: KubeObject | undefined = object;
    for (let attempt = 0; now !== undefined; attempt++) {
      const { namespace, name, resourceVersion = '' } = now.metadata;
      const managedFields = withoutForeign(now) as readonly Json[];
      // An empty list changes nothing.
      if (managedFields.length === 0) return;
      try {
        cache.wrote(await api.patch(cache.type, namespace, name, { metadata: { resourceVersion, managedFields } }));
        return;
      } catch (error) {
        if (!(error instanceof KubeError && error.status === 409) || attempt === disownAttempts) throw error;
        now = await api.get(cache.type, namespace, name);
      }
    }
  }

  async #send(object: KubeObject): Promise<KubeObject> {
    try {
      return await this.#options.api.apply(object);
    } catch (error) {
      throw asRefusal(error, object);
    }
  }

  #check(live: KubeObject, wanted: KubeObject): void {
    const ownership = ownershipOf(live, wanted);
    if (ownership.kind === 'foreign') throw new ForeignObject(ownership.message);
    if (ownership.kind === 'leftover') {
      throw new StillBeingDeleted(`${live.kind} ${live.metadata.name} of before is still being deleted`);
    }
  }

  #isAsSent(live: KubeObject, wanted: KubeObject, digest: string): boolean {
    if (live.metadata.annotations?.[appliedAnnotation] !== digest) return false;
    if (hasAll(live, wanted)) return true;
    const spelled = this.#spelled.get(keyOf(wanted));
    return spelled?.digest === digest && same(atSentPlaces(live, wanted), spelled.places);
  }
}

/**
 * Without the parts of a StatefulSet that are sent back as they are: the API server has filled in what was left out of them, so that
 * they differ from what was sent first.
 */
function ownWords(wanted: KubeObject): unknown {
  if (wanted.kind !== 'StatefulSet') return wanted;
  const spec = Object.entries(wanted['spec'] as object).filter(([field]) => !sentBack.has(field));
  return { ...wanted, spec: Object.fromEntries(spec) };
}

function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}
