import { secretLine } from '../../../../platform/settings/setting-text.ts';
import { type Tenant, type CofferObject } from '../../../api/object.ts';
import { type Secret, usesOf } from '../../../contract/secret.ts';
import { tenantsOfProvider } from '../../../reconcile/affected-by.ts';
import { type Resources, objectKey, byKind } from '../../../reconcile/resources.ts';
import { podOptions } from '../../../render/kubernetes-options.ts';
import { type PodOptions, resourceKinds, type ResourceKind, type ResourceRef } from '../../../contract/workload.ts';
import { isDeepStrictEqual } from 'node:util';
import { validate } from '../../../api/validate.ts';
import type { Cache, KubeObject } from '../../../kube-client/kube-api.ts';

/** Returns the pod options of a provider check: those of the first allowed tenant, by name, that uses the provider. */
export function checkPodOptions(
  provider: string,
  resources: Resources,
  isAllowed: (tenant: Tenant) => boolean = () => true,
): PodOptions | undefined {
  const [first] = tenantsOfProvider(provider, resources)
    .filter(isAllowed)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return first && podOptions(first.spec);
}

interface ResourceSources {
  readonly resources: (kind: ResourceKind) => Cache;
  readonly secrets: Cache;
  readonly configMaps: Cache;
}

interface Known {
  /** The last checked manifest. */
  readonly manifest: Manifest;
  /** The last valid state. */
  readonly good: CofferObject | undefined;
  /** The reason why the current manifest is invalid. */
  readonly invalid: string | undefined;
  readonly deleting: boolean;
}

/** A resource without the fields that the API server and controllers add. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: unknown;
}

/**
 * The resources of one namespace as the reconciler reads them from the caches. It validates them again, since the CRD in the cluster may be
 * older than this program, and keeps the last valid state of an invalid resource.
 */
export class NamespaceResources {
  readonly #namespace: string;
  readonly #sources: ResourceSources;
  /** Resources by `Kind/name`. */
  readonly #known = new Map<string, Known>();
  #view: Resources | undefined;

  constructor(namespace: string, sources: ResourceSources) {
    this.#namespace = namespace;
    this.#sources = sources;
    for (const kind of resourceKinds) {
      for (const object of this.#cache(kind).list(namespace)) this.update(kind, object.metadata.name);
    }
  }

  /** Reports whether the namespace has no resource. */
  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Drops the view after a change of a Secret or ConfigMap. */
  invalidate(): void {
    this.#view = undefined;
  }

  /** Handles a change of a resource. Returns its state before and after; undefined when only its status changed. */
  update(kind: ResourceKind, name: string): Updated | undefined {
    const key = objectKey({ kind, name });
    const before = this.#known.get(key);
    const object = this.object({ kind, name });
    if (object === undefined) {
      if (before === undefined) return undefined;
      this.#known.delete(key);
      this.#view = undefined;
      return { before: before.good, after: undefined };
    }
    const manifest = manifestOf(object);
    const deleting = object.metadata.deletionTimestamp !== undefined;
    if (before?.deleting === deleting && isDeepStrictEqual(before.manifest, manifest)) return undefined;
    const checked = validate(manifest, before?.good, { unknownFields: 'ignore' });
    const after: Known =
      checked.kind === 'object'
        ? { manifest, good: checked.object, invalid: undefined, deleting }
        : { manifest, good: before?.good, invalid: problemsOf(checked), deleting };
    this.#known.set(key, after);
    this.#view = undefined;
    return { before: before?.good, after: after.good };
  }

  /** Returns the object as the API server has it. */
  object(ref: ResourceRef): KubeObject | undefined {
    return this.#cache(ref.kind).get(this.#namespace, ref.name);
  }

  resources(): Resources {
    this.#view ??= this.#build();
    return this.#view;
  }

  #cache(kind: ResourceKind): Cache {
    return this.#sources.resources(kind);
  }

  #build(): Resources {
    const good: CofferObject[] = [];
    const invalid = new Map<string, string>();
    const deleting = new Set<string>();
    for (const [key, known] of this.#known) {
      if (known.invalid !== undefined) invalid.set(key, known.invalid);
      if (known.deleting) deleting.add(key);
      if (known.good !== undefined) good.push(known.good);
    }
    const { secrets, configMaps } = this.#sources;
    return {
      ...byKind(good),
      secrets: new Map(secrets.list(this.#namespace).map((object) => [object.metadata.name, decoded(object)])),
      configMaps: new Map(configMaps.list(this.#namespace).map((object) => [object.metadata.name, dataOf(object)])),
      invalid,
      deleting,
    };
  }
}

interface Updated {
  readonly before: CofferObject | undefined;
  readonly after: CofferObject | undefined;
}

function manifestOf(object: KubeObject): Manifest {
  const { name, namespace, labels, annotations, generation, creationTimestamp } = object.metadata;
  const optional = { namespace, labels, annotations, generation, creationTimestamp };
  const metadata = Object.fromEntries(Object.entries({ name, ...optional }).filter(([, value]) => value !== undefined));
  return { apiVersion: object.apiVersion, kind: object.kind, metadata, spec: object['spec'] };
}

function problemsOf(checked: ReturnType<typeof validate>): string {
  if (checked.kind !== 'invalid') return 'not a resource of Coffer';
  return checked.problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
}

function dataOf(object: KubeObject): Readonly<Record<string, string>> {
  return (object['data'] ?? {}) as Readonly<Record<string, string>>;
}

const decodedSecrets = new WeakMap<KubeObject, Secret>();

/** Decodes the values when they are first read: most Secrets of a namespace are never read. */
function decoded(object: KubeObject): Secret {
  const known = decodedSecrets.get(object);
  if (known !== undefined) return known;
  let data: Readonly<Record<string, string>> | undefined;
  const secret: Secret = {
    name: object.metadata.name,
    ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
    uses: usesOf({ labels: object.metadata.labels, type: object['type'] as string | undefined }),
    get data() {
      data ??= Object.fromEntries(
        Object.entries(dataOf(object)).map(([key, value]) => [
          key,
          secretLine(Buffer.from(value, 'base64').toString('utf8')),
        ]),
      );
      return data;
    },
  };
  decodedSecrets.set(object, secret);
  return secret;
}
