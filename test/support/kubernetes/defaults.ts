import { customResourceDefinition } from '../../../operator/api/crd.ts';
import { eachKind } from '../../../operator/api/kinds.ts';
import { type Cause, isObject, type ApiObject, type JsonObject } from './api-object.ts';

interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly default?: unknown;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const schemas: ReadonlyMap<string, Schema> = new Map(
  eachKind((kind) => {
    const definition = customResourceDefinition(kind) as unknown as {
      spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] };
    };
    return [`${kind.plural}.coffer.dev`, definition.spec.versions[0].schema.openAPIV3Schema] as const;
  }),
);

/** Fills the defaults of the CRD in, in place. */
function fillCustomDefaults(resource: string, object: ApiObject): void {
  const schema = schemas.get(resource)?.properties?.['spec'];
  if (schema !== undefined) fillFromSchema(schema, object['spec']);
}

/** What of the status breaks the CRD. The real server would drop fields that it does not know, or refuse them. */
export function brokenStatus(resource: string, object: ApiObject): Cause[] {
  const schema = schemas.get(resource)?.properties?.['status'];
  return schema === undefined || object['status'] === undefined ? [] : broken(schema, object['status'], 'status');
}

function fillFromSchema(schema: Schema, value: unknown): void {
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const item of value) fillFromSchema(schema.items, item);
  }
  if (!isObject(value)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (value[name] === undefined && property.default !== undefined) value[name] = structuredClone(property.default);
    fillFromSchema(property, value[name]);
  }
  if (isObject(schema.additionalProperties)) {
    for (const item of Object.values(value)) fillFromSchema(schema.additionalProperties, item);
  }
}

function broken(schema: Schema, value: unknown, field: string): Cause[] {
  if (schema.type !== undefined && !isOfType(schema.type, value)) {
    return [{ field, message: `must be of type ${schema.type}: ${JSON.stringify(value)}` }];
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return [{ field, message: `Unsupported value: ${JSON.stringify(value)}` }];
  }
  if (typeof value === 'string' && value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
    return [{ field, message: `Too long: may not be more than ${schema.maxLength} bytes` }];
  }
  if (typeof value === 'number' && value < (schema.minimum ?? Number.NEGATIVE_INFINITY)) {
    return [{ field, message: `should be greater than or equal to ${schema.minimum}` }];
  }
  if (Array.isArray(value)) {
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return [{ field, message: 'Too many items' }];
    return value.flatMap((item, index) => broken(schema.items ?? {}, item, `${field}[${index}]`));
  }
  return isObject(value) ? brokenObject(schema, value, field) : [];
}

function brokenObject(schema: Schema, value: JsonObject, field: string): Cause[] {
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined);
  const isTooMany = Object.keys(value).length > (schema.maxProperties ?? Number.POSITIVE_INFINITY);
  return [
    ...(isTooMany ? [{ field, message: `must have at most ${schema.maxProperties} items` }] : []),
    ...missing.map((name) => ({ field: `${field}.${name}`, message: 'Required value' })),
    ...Object.entries(value).flatMap(([name, item]) => {
      const property = schema.properties?.[name];
      if (property !== undefined) return broken(property, item, `${field}.${name}`);
      if (isObject(schema.additionalProperties)) return broken(schema.additionalProperties, item, `${field}.${name}`);
      if (schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
      return [{ field: `${field}.${name}`, message: 'field not declared in schema' }];
    }),
  ];
}

function isOfType(type: NonNullable<Schema['type']>, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
}

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
