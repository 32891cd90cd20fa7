import { fillCustomDefaults } from './custom-resources.ts';
import { isObject, type ApiObject, type JsonObject } from './api-object.ts';

/**
 * What the real server fills in, as far as it would trip an operator that compares what it sent with what it reads back. No
 * manager owns these fields.
 */
export function withDefaults(resource: string, object: ApiObject): ApiObject {
  const filled = structuredClone(object);
  const spec = isObject(filled['spec']) ? filled['spec'] : undefined;
  switch (resource) {
    case 'pods':
      if (spec !== undefined) fillPod(spec);
      break;
    case 'statefulsets.apps':
    case 'deployments.apps':
      if (spec !== undefined) fillWorkload(spec, resource);
      break;
    case 'services':
      if (spec !== undefined) fillService(spec, filled.metadata.uid);
      break;
    case 'secrets':
      fillSecret(filled);
      break;
    case 'persistentvolumeclaims':
      if (spec !== undefined) fill(spec, { volumeMode: 'Filesystem' });
      break;
    default:
      fillCustomDefaults(resource, filled);
  }
  return filled;
}

function fill(target: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) target[key] ??= value;
}

function fillWorkload(spec: JsonObject, resource: string): void {
  fill(spec, { replicas: 1, revisionHistoryLimit: 10 });
  if (resource === 'statefulsets.apps') {
    fill(spec, {
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    for (const claim of listOf(spec, 'volumeClaimTemplates')) {
      fill(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } });
      if (isObject(claim['spec'])) fill(claim['spec'], { volumeMode: 'Filesystem' });
    }
  }
  const template = spec['template'];
  if (isObject(template) && isObject(template['spec'])) fillPod(template['spec']);
}

function fillPod(spec: JsonObject): void {
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  for (const container of [...listOf(spec, 'containers'), ...listOf(spec, 'initContainers')]) {
    const image = typeof container['image'] === 'string' ? container['image'] : '';
    fill(container, {
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: /:latest$|^[^:]*$/.test(image) ? 'Always' : 'IfNotPresent',
      resources: {},
    });
    for (const port of listOf(container, 'ports')) fill(port, { protocol: 'TCP' });
    for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
      const value = container[probe];
      if (!isObject(value)) continue;
      fill(value, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
      if (isObject(value['httpGet'])) fill(value['httpGet'], { scheme: 'HTTP', path: '/' });
    }
  }
  for (const volume of listOf(spec, 'volumes')) {
    for (const kind of ['secret', 'configMap', 'projected']) {
      if (isObject(volume[kind])) fill(volume[kind], { defaultMode: 420 });
    }
  }
}

function fillService(spec: JsonObject, uid: string): void {
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' });
  fill(spec, { clusterIP: `10.96.${Number.parseInt(uid.slice(0, 2), 16)}.${Number.parseInt(uid.slice(2, 4), 16)}` });
  fill(spec, { clusterIPs: [spec['clusterIP']], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
  for (const port of listOf(spec, 'ports')) {
    fill(port, { protocol: 'TCP', targetPort: port['port'] });
    if (spec['type'] !== 'ClusterIP') fill(port, { nodePort: 30_000 + (Number(port['port']) % 2768) });
  }
}

/** `stringData` is only for writing. */
function fillSecret(secret: ApiObject): void {
  secret['type'] ??= 'Opaque';
  const text = secret['stringData'];
  if (!isObject(text)) return;
  const encoded = Object.entries(text).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
  secret['data'] = {
    ...(isObject(secret['data']) ? secret['data'] : {}),
    ...(Object.fromEntries(encoded) as JsonObject),
  };
  delete secret['stringData'];
}

function listOf(object: JsonObject, field: string): JsonObject[] {
  const list = object[field];
  return Array.isArray(list) ? list.filter(isObject) : [];
}
