import type { Cache, KubeApi, KubeObject } from '../kube/kube-api.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
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
}

const sentBack: ReadonlySet<string> = new Set([...immutableFields, 'template']);

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
    if (live !== undefined && this.#isAsSent(live, wanted, digest)) return live;
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
