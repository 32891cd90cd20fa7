import { createHash } from 'node:crypto';
import { isObject, sameJson, type ApiObject, type JsonObject, type Owner } from './api-object.ts';
import { isReady } from './selectors.ts';
import { type Change, type ObjectStore, TickQueue } from './object-store.ts';
import type { Operations } from './operations.ts';

interface StatefulSetSpec {
  readonly replicas: number;
  readonly serviceName?: string;
  readonly selector?: { readonly matchLabels?: Record<string, string> };
  readonly podManagementPolicy: 'OrderedReady' | 'Parallel';
  readonly updateStrategy: { readonly type: 'OnDelete' | 'RollingUpdate' };
  readonly template: { readonly metadata?: JsonObject; readonly spec: JsonObject };
  readonly volumeClaimTemplates?: readonly ApiObject[];
  readonly persistentVolumeClaimRetentionPolicy: { readonly whenDeleted: string; readonly whenScaled: string };
}

const manager = { name: 'kube-controller-manager', subresource: undefined };

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/ */
export class StatefulSetController {
  readonly #store: ObjectStore;
  readonly #operations: Operations;
  readonly #queue = new TickQueue((key) => this.#reconcile(key));
  readonly #stop: () => void;

  constructor(store: ObjectStore, operations: Operations) {
    this.#store = store;
    this.#operations = operations;
    this.#stop = store.onChange((change) => this.#see(change));
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  #see({ resource, shown }: Change): void {
    const { namespace = '', name, ownerReferences = [] } = shown.metadata;
    if (resource === 'statefulsets.apps') this.#queue.add(`${namespace} ${name}`);
    if (resource !== 'pods') return;
    const owner = ownerReferences.find(({ kind }) => kind === 'StatefulSet');
    if (owner !== undefined) this.#queue.add(`${namespace} ${owner.name}`);
  }

  #reconcile(key: string): void {
    const [namespace = '', name = ''] = key.split(' ');
    const set = this.#store.get('statefulsets.apps', namespace, name);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const spec = set['spec'] as StatefulSetSpec;
    const pods = this.#podsOf(set);
    this.#act(set, spec, pods);
    this.#report(set, spec, this.#podsOf(set));
  }

  #podsOf(set: ApiObject): ApiObject[] {
    const own = this.#store.list('pods', set.metadata.namespace).filter(isOwnedBy(set));
    return own.sort((a, b) => ordinalOf(a) - ordinalOf(b));
  }

  /** One step; the change that it makes brings the next. */
  #act(set: ApiObject, spec: StatefulSetSpec, pods: readonly ApiObject[]): void {
    const ended = pods.filter(
      (pod) => ['Failed', 'Succeeded'].includes(phaseOf(pod)) && pod.metadata.deletionTimestamp === undefined,
    );
    for (const pod of ended) this.#deletePod(pod);
    const ordered = spec.podManagementPolicy === 'OrderedReady';
    for (let ordinal = 0; ordinal < spec.replicas; ordinal += 1) {
      const pod = pods.find((other) => ordinalOf(other) === ordinal);
      if (pod === undefined) this.#createPod(set, spec, ordinal);
      if (ordered && (pod === undefined || !isReady(pod))) return;
    }
    const tooMany = pods.filter((pod) => ordinalOf(pod) >= spec.replicas).reverse();
    if (ordered && tooMany.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return;
    for (const pod of ordered ? tooMany.slice(0, 1) : tooMany) this.#deletePod(pod);
    if (tooMany.length > 0 || spec.updateStrategy.type === 'OnDelete' || !pods.every(isReady)) return;
    const outdated = pods.findLast(
      (pod) => pod.metadata.labels?.['controller-revision-hash'] !== revisionOf(set, spec),
    );
    if (outdated !== undefined) this.#deletePod(outdated);
  }

  #deletePod({ metadata: { namespace, name, deletionTimestamp } }: ApiObject): void {
    if (deletionTimestamp === undefined) this.#operations.delete({ resource: 'pods', namespace, name }, {});
  }

  #createPod(set: ApiObject, spec: StatefulSetSpec, ordinal: number): void {
    const { namespace, name: setName } = set.metadata;
    if (this.#store.get('namespaces', undefined, namespace ?? '')?.metadata.deletionTimestamp !== undefined) return;
    const name = `${setName}-${ordinal}`;
    if (this.#store.get('pods', namespace, name) !== undefined) return;
    const claims = (spec.volumeClaimTemplates ?? []).map((template) => ({
      template,
      claim: `${template.metadata.name}-${name}`,
    }));
    for (const { template, claim } of claims) this.#ensureClaim(set, spec, template, claim);
    const metadata = structuredClone(spec.template.metadata ?? {});
    const podSpec = structuredClone(spec.template.spec);
    const volumes = Array.isArray(podSpec['volumes']) ? (podSpec['volumes'] as unknown[]) : [];
    this.#operations.create(
      'pods',
      namespace,
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          ...metadata,
          name,
          labels: {
            ...(isObject(metadata['labels']) ? metadata['labels'] : {}),
            'controller-revision-hash': revisionOf(set, spec),
            'statefulset.kubernetes.io/pod-name': name,
            'apps.kubernetes.io/pod-index': String(ordinal),
          },
          ownerReferences: [ownerOf(set, true)],
        },
        spec: {
          ...podSpec,
          hostname: name,
          ...(spec.serviceName === undefined ? {} : { subdomain: spec.serviceName }),
          volumes: [
            ...volumes,
            ...claims.map(({ template, claim }) => ({
              name: template.metadata.name,
              persistentVolumeClaim: { claimName: claim },
            })),
          ],
        },
      },
      manager,
    );
  }

  #ensureClaim(set: ApiObject, spec: StatefulSetSpec, template: ApiObject, name: string): void {
    const { namespace } = set.metadata;
    if (this.#store.get('persistentvolumeclaims', namespace, name) !== undefined) return;
    const owned = spec.persistentVolumeClaimRetentionPolicy.whenDeleted === 'Delete';
    this.#operations.create(
      'persistentvolumeclaims',
      namespace,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          ...template.metadata,
          name,
          labels: { ...template.metadata.labels, ...spec.selector?.matchLabels },
          ...(owned ? { ownerReferences: [ownerOf(set, false)] } : {}),
        },
        spec: template['spec'],
      },
      manager,
    );
  }

  #report(set: ApiObject, spec: StatefulSetSpec, pods: readonly ApiObject[]): void {
    const updateRevision = revisionOf(set, spec);
    const former = isObject(set['status']) ? set['status'] : {};
    const updated = pods.filter((pod) => pod.metadata.labels?.['controller-revision-hash'] === updateRevision).length;
    const ready = pods.filter(isReady).length;
    const whole = spec.updateStrategy.type === 'RollingUpdate' && updated === spec.replicas && ready === spec.replicas;
    const current =
      typeof former['currentRevision'] === 'string' && !whole ? former['currentRevision'] : updateRevision;
    const status = {
      observedGeneration: set.metadata.generation,
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: pods.filter((pod) => pod.metadata.labels?.['controller-revision-hash'] === current).length,
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision,
      collisionCount: 0,
    };
    if (!sameJson(status, former)) {
      const live = this.#store.get('statefulsets.apps', set.metadata.namespace, set.metadata.name) ?? set;
      this.#store.write('statefulsets.apps', { ...live, status });
    }
  }
}

function revisionOf(set: ApiObject, { template }: StatefulSetSpec): string {
  return `${set.metadata.name.slice(0, 50)}-${createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10)}`;
}

function ownerOf(set: ApiObject, controller: boolean): Owner {
  const { apiVersion, kind, metadata } = set;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
  return controller ? { ...owner, controller: true, blockOwnerDeletion: true } : owner;
}

function isOwnedBy(set: ApiObject): (object: ApiObject) => boolean {
  return ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid) ?? false;
}

function ordinalOf(pod: ApiObject): number {
  return Number(pod.metadata.name.slice(pod.metadata.name.lastIndexOf('-') + 1));
}

function phaseOf(pod: ApiObject): string {
  return isObject(pod['status']) ? String(pod['status']['phase']) : '';
}
