import { ResourceError } from '../../../api/resource-error.ts';
import {
  KubeError,
  type KubeObject,
  type Cache,
  type KubeApi,
  type OwnerReference,
  withoutForeign,
} from '../../../kube-client/kube-api.ts';
import {
  authorityLabel,
  certificateLabel,
  managedBy,
  ownerKindLabel,
  ownerLabel,
  workloadLabel,
  appliedAnnotation,
} from '../objects/labels.ts';
import type { Json } from '../../../contract/workload.ts';
import { driftOf, type Drift, atSentPlaces, hasAll, same } from './drift.ts';
import type { ClusterRules } from './cluster-rules.ts';
import { canonical } from '../../../render/restart-inputs.ts';
import { immutableFields } from '../objects/stateful-set.ts';

/** HTTP statuses by which a server refuses the object itself. The same object would be refused again. */
const refusals: ReadonlySet<number | undefined> = new Set([400, 403, 413, 422]);
/** Messages with status 500 that concern the object: an unknown field in an apply, an unreachable webhook. */
const refusalWords = /failed to create typed patch object|failed calling webhook/;
/** Characters: a condition holds 32 KiB, and a webhook may answer a page. */
const maxMessageLength = 2_000;

/** Returns the error of a write: a refusal of the server becomes a `ResourceError` with its message; other errors stay. */
export function asRefusal(error: unknown, { kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): unknown {
  if (!(error instanceof KubeError) || isEnding(error)) return error;
  if (!refusals.has(error.status) && !refusalWords.test(error.message)) return error;
  const words = error.message.replace(/^[A-Z]+ \/\S*: /, '').slice(0, maxMessageLength);
  return new ResourceError('ObjectRefused', `the API server refuses ${kind} ${metadata.name}: ${words}`, {
    cause: error,
  });
}

/**
 * Reports whether the namespace is being deleted: no object can be made in it.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
 */
export function isEnding(error: unknown): boolean {
  return error instanceof KubeError && error.status === 403 && error.causes.includes('NamespaceTerminating');
}

/** Labels that name the resource of an object. */
const identifying = [workloadLabel, ownerKindLabel, ownerLabel, authorityLabel, certificateLabel] as const;

/** The owner of a live object with the name of one that the operator wants to write. */
type Ownership =
  | { readonly kind: 'ours' }
  /** It belongs to a deleted resource of the same name. The garbage collector of Kubernetes deletes it soon. */
  | { readonly kind: 'leftover' }
  | { readonly kind: 'foreign'; readonly message: string };

export function ownershipOf(live: KubeObject, wanted: KubeObject): Ownership {
  const holder = controllerOf(live);
  const owner = controllerOf(wanted);
  if (holder !== undefined && owner !== undefined && holder.uid !== owner.uid) {
    if (holder.kind === owner.kind && holder.name === owner.name) return { kind: 'leftover' };
    return foreign(live, `belongs to ${holder.kind} ${holder.name}`);
  }
  // An object that outlives its resource has no owner reference, only labels.
  if (holder === undefined && !hasOurLabels(live, wanted)) return foreign(live, 'was not made by the operator');
  return live.metadata.deletionTimestamp === undefined ? { kind: 'ours' } : { kind: 'leftover' };
}

function hasOurLabels(live: KubeObject, wanted: KubeObject): boolean {
  const labels = live.metadata.labels ?? {};
  return (
    labels['app.kubernetes.io/managed-by'] === managedBy &&
    identifying.every((label) => labels[label] === wanted.metadata.labels?.[label])
  );
}

function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

const holdsData: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'Secret']);

function foreign(live: KubeObject, why: string): Ownership {
  const message =
    `${live.kind} ${live.metadata.name} ${why}, and is not taken over: give one of the two another name` +
    // An object that holds data, keys or credentials must not be deleted for the sake of a name.
    (holdsData.has(live.kind) ? '' : ', or delete it if nothing needs it');
  return { kind: 'foreign', message };
}

interface ObjectWriterOptions {
  readonly api: KubeApi;
  /** Returns a keyed digest: the digest of a Secret is an annotation, which more users may read than its values. */
  readonly fingerprint: (value: string) => string;
  /** Returns the resources that need what the owner's objects do. The objects stay while one of them exists. */
  readonly coOwners?: (owner: OwnerReference) => readonly OwnerReference[];
  /** Called after a manual change was reverted. */
  readonly drifted?: (object: KubeObject, drift: Drift) => void;
  readonly rules: ClusterRules;
}

const sentBack: ReadonlySet<string> = new Set([...immutableFields, 'template']);

const disownAttempts = 5;

/** Makes live objects match wanted ones, and writes nothing when they do. */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  /** The spelling of the API server for the last sent values, by kind and name: `1000m` of CPU comes back as `1`. */
  readonly #spelled = new Map<string, { readonly digest: string; readonly places: unknown }>();

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  /**
   * Answers the live object. Errors with `ResourceError` (`Conflict`, `ObjectRefused`, `StillBeingDeleted`) and `KubeError`. `cache` is
   * that of its kind. An object that is not in it is read from the API server, since the cache has only the operator's objects.
   */
  async ensure(object: KubeObject, cache: Cache): Promise<KubeObject> {
    const { fingerprint, rules } = this.#options;
    const wanted = this.#withCoOwners(object);
    const live = await this.find(cache, wanted.metadata.namespace ?? '', wanted.metadata.name);
    if (live !== undefined) this.#check(live, wanted);
    const digest = fingerprint(canonical(ownWords(wanted)));
    const drift = live === undefined ? undefined : driftOf(live, wanted);
    const isLeft = drift !== undefined && rules.decide(keyOf(wanted), drift) === 'leave';
    // The rules of a StatefulSet are forgotten where its template is compared.
    if (!isLeft && wanted.kind !== 'StatefulSet') rules.forgetLeft(keyOf(wanted));
    if (live !== undefined && isLeft) {
      rules.recordLeft(keyOf(wanted), drift);
      if (live.metadata.annotations?.[appliedAnnotation] === digest) return live;
    } else if (live !== undefined && drift !== undefined) await this.#undo(live, drift, cache);
    else if (live !== undefined && this.#isAsSent(live, wanted, digest)) return live;
    return this.#write(wanted, digest, cache);
  }

  /** Sends an object whatever the live one is, so that the answer shows what the cluster makes of it. */
  send(object: KubeObject, cache: Cache): Promise<KubeObject> {
    const wanted = this.#withCoOwners(object);
    return this.#write(wanted, this.#options.fingerprint(canonical(ownWords(wanted))), cache);
  }

  async #write(wanted: KubeObject, digest: string, cache: Cache): Promise<KubeObject> {
    const { annotations } = wanted.metadata;
    const metadata = { ...wanted.metadata, annotations: { ...annotations, [appliedAnnotation]: digest } };
    const answer = await this.#send({ ...wanted, metadata });
    cache.wrote(answer);
    this.#spelled.set(keyOf(wanted), { digest, places: atSentPlaces(answer, wanted) });
    return answer;
  }

  /**
   * A deletion in the foreground makes the garbage collector delete the objects of the owner at once, whatever finalizer the owner has. It
   * leaves those that another resource owns too.
   *
   * @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/#foreground-deletion
   */
  #withCoOwners(object: KubeObject): KubeObject {
    const owner = controllerOf(object);
    const { coOwners } = this.#options;
    if (owner === undefined || coOwners === undefined) return object;
    return { ...object, metadata: { ...object.metadata, ownerReferences: [owner, ...coOwners(owner)] } };
  }

  async find(cache: Cache, namespace: string, name: string): Promise<KubeObject | undefined> {
    return cache.get(namespace, name) ?? (await this.#options.api.get(cache.type, namespace, name));
  }

  /** Deletes this object, and not a newer one with its name. */
  async remove(object: KubeObject, cache: Cache): Promise<void> {
    const { namespace = '', name, uid } = object.metadata;
    if (object.metadata.deletionTimestamp !== undefined) return;
    this.#spelled.delete(keyOf(object));
    await this.#options.api.delete(cache.type, namespace, name, { uid });
  }

  /**
   * Reverts the fields of others, and removes their entries from the managed fields together with that of this patch: a field with another
   * owner would stay when the operator no longer sends it.
   */
  async #undo(live: KubeObject, drift: Drift, cache: Cache): Promise<void> {
    const { api, drifted, rules } = this.#options;
    const { namespace, name, resourceVersion } = live.metadata;
    try {
      const metadata = { resourceVersion };
      const patch = { ...(drift.patch as object), metadata } as Json;
      await this.#disown(await api.patch(cache.type, namespace, name, patch), cache);
    } catch (error) {
      throw asRefusal(error, live);
    }
    rules.recordRepair(keyOf(live), drift);
    drifted?.(live, drift);
  }

  /** Controllers write the status of a changed object, so a conflict leads to a new read. */
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
    if (ownership.kind === 'foreign') throw new ResourceError('Conflict', ownership.message);
    if (ownership.kind === 'leftover') {
      throw new ResourceError(
        'StillBeingDeleted',
        `${live.kind} ${live.metadata.name} of before is still being deleted`,
      );
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
 * Removes the parts of a StatefulSet that are sent back unchanged: the API server has filled in their defaults, so they differ from the
 * first sent ones.
 */
function ownWords(wanted: KubeObject): unknown {
  if (wanted.kind !== 'StatefulSet') return wanted;
  const spec = Object.entries(wanted['spec'] as object).filter(([field]) => !sentBack.has(field));
  return { ...wanted, spec: Object.fromEntries(spec) };
}

/** Returns `StatefulSet/demo-server`. */
export function keyOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind}/${metadata.name}`;
}
