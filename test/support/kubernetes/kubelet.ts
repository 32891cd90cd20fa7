import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import { isObject, sameJson, type ApiObject, type JsonObject } from './api-object.ts';
import { type Change, type ObjectStore, TickQueue } from './object-store.ts';
import { wellBehaved, type Behave, type PodBehaviour, podStatus, type Waiting } from './pod-status.ts';

/** Scheduler, kubelet and volume binder of one large node: a step for each pod in every tick. */
export class Kubelet {
  behave: Behave = wellBehaved;
  holdsTermination: (pod: KubeObject) => boolean = () => false;
  readonly #store: ObjectStore;
  readonly #queue = new TickQueue((key) => this.#look(key));
  readonly #stop: () => void;
  #addresses = 0;

  constructor(store: ObjectStore) {
    this.#store = store;
    this.#stop = store.onChange((change) => this.#see(change));
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  /** Looks at every pod again, as after a change of `behave`. */
  lookAtAll(): void {
    for (const { metadata } of this.#store.list('pods')) this.#queue.add(`${metadata.namespace} ${metadata.name}`);
  }

  #see({ resource, after, shown }: Change): void {
    const { namespace = '', name } = shown.metadata;
    if (resource === 'pods' && after !== undefined) this.#queue.add(`${namespace} ${name}`);
    if (resource === 'persistentvolumeclaims' && after !== undefined) this.#bind(after);
    if (!['secrets', 'configmaps', 'persistentvolumeclaims'].includes(resource)) return;
    for (const pod of this.#store.list('pods', namespace)) {
      if (isObject(pod['status']) && pod['status']['phase'] === 'Pending')
        this.#queue.add(`${namespace} ${pod.metadata.name}`);
    }
  }

  #bind(claim: ApiObject): void {
    const status = isObject(claim['status']) ? claim['status'] : {};
    if (status['phase'] === 'Bound' || claim.metadata.deletionTimestamp !== undefined) return;
    const spec = isObject(claim['spec']) ? claim['spec'] : {};
    const capacity = isObject(spec['resources']) ? spec['resources']['requests'] : undefined;
    this.#store.write('persistentvolumeclaims', {
      ...claim,
      status: { phase: 'Bound', capacity, accessModes: spec['accessModes'] },
    });
  }

  #look(key: string): void {
    const [namespace = '', name = ''] = key.split(' ');
    const pod = this.#store.get('pods', namespace, name);
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (!this.holdsTermination(pod)) this.#store.remove('pods', pod);
      return;
    }
    const former = isObject(pod['status']) ? pod['status'] : {};
    if (former['phase'] === 'Succeeded' || former['phase'] === 'Failed') return;
    const behaviour = this.behave(pod);
    const scheduled = this.#schedule(pod, behaviour);
    const waiting = this.#waitsFor(scheduled, behaviour);
    const address = (this.#addresses += 1);
    const ip = typeof former['podIP'] === 'string' ? former['podIP'] : `10.244.${address >> 8}.${address & 255}`;
    const status = podStatus(scheduled, behaviour, ip, waiting);
    if (scheduled !== pod || !sameJson(status, former)) this.#store.write('pods', { ...scheduled, status });
  }

  #schedule(pod: ApiObject, behaviour: PodBehaviour): ApiObject {
    const spec = pod['spec'] as JsonObject;
    if (spec['nodeName'] !== undefined || behaviour.kind === 'pending' || this.#missingClaim(pod) !== undefined)
      return pod;
    return { ...pod, spec: { ...spec, nodeName: 'node-1' } };
  }

  /** The first look after scheduling finds the containers in the making, as a person would see. */
  #waitsFor(pod: ApiObject, behaviour: PodBehaviour): Waiting | undefined {
    const missing = this.#missingSource(pod);
    if (missing !== undefined)
      return { reason: 'ContainerCreating', message: `MountVolume.SetUp failed: ${missing} not found` };
    const unset = this.#missingVariable(pod);
    if (unset !== undefined) return { reason: 'CreateContainerConfigError', message: `${unset} not found` };
    if (behaviour.kind === 'image-pull-back-off') {
      const { containers } = pod['spec'] as { containers: { image: string }[] };
      return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${containers[0]?.image}"` };
    }
    const former = isObject(pod['status']) ? pod['status'] : {};
    return former['containerStatuses'] === undefined ? { reason: 'ContainerCreating', message: '' } : undefined;
  }

  #missingClaim(pod: ApiObject): string | undefined {
    const claims = volumesOf(pod).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    return claims.find((name) => this.#store.get('persistentvolumeclaims', pod.metadata.namespace, name) === undefined);
  }

  #missingSource(pod: ApiObject): string | undefined {
    const sources = volumesOf(pod).flatMap(({ secret, configMap, projected }) => [
      { secret: secret && { name: secret.secretName, optional: secret.optional }, configMap },
      ...(projected?.sources ?? []),
    ]);
    for (const { secret, configMap } of sources) {
      if (this.#missing('secrets', pod, secret)) return `secret "${secret?.name}"`;
      if (this.#missing('configmaps', pod, configMap)) return `configmap "${configMap?.name}"`;
    }
    return undefined;
  }

  #missingVariable(pod: ApiObject): string | undefined {
    const { containers } = pod['spec'] as {
      containers: { env?: { valueFrom?: { secretKeyRef?: Source; configMapKeyRef?: Source } }[] }[];
    };
    for (const { valueFrom } of containers.flatMap(({ env = [] }) => env)) {
      if (this.#missing('secrets', pod, valueFrom?.secretKeyRef)) return `secret "${valueFrom?.secretKeyRef?.name}"`;
      if (this.#missing('configmaps', pod, valueFrom?.configMapKeyRef))
        return `configmap "${valueFrom?.configMapKeyRef?.name}"`;
    }
    return undefined;
  }

  #missing(resource: string, pod: ApiObject, source: Source | undefined): boolean {
    if (source?.name === undefined || source.optional === true) return false;
    const found = this.#store.get(resource, pod.metadata.namespace, source.name);
    const data: JsonObject = isObject(found?.['data']) ? found['data'] : {};
    const wanted = [...(source.items ?? []).map(({ key }) => key), ...(source.key === undefined ? [] : [source.key])];
    return found === undefined || wanted.some((key) => !(key in data));
  }
}

interface Source {
  readonly name?: string | undefined;
  readonly key?: string;
  readonly items?: readonly { readonly key: string }[];
  readonly optional?: boolean | undefined;
}

interface Volume {
  readonly secret?: { readonly secretName: string; readonly optional?: boolean };
  readonly configMap?: Source;
  readonly projected?: { readonly sources: readonly { readonly secret?: Source; readonly configMap?: Source }[] };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

function volumesOf(pod: ApiObject): readonly Volume[] {
  return (pod['spec'] as { volumes?: readonly Volume[] }).volumes ?? [];
}
