import type { CofferObject } from '../../../operator/api/object.ts';
import { validate } from '../../../operator/api/validate.ts';
import { ApiError, type Cause, isObject, sameJson, type ApiObject, type JsonObject } from './api-object.ts';
import { brokenStatus } from './defaults.ts';
import { selectorObject } from './selectors.ts';

/** Refuses what the real server would refuse, with 422 Invalid. */
export function admit(resource: string, before: ApiObject | undefined, after: ApiObject): void {
  const causes = [
    ...brokenMetadata(after.metadata),
    ...(resource.endsWith('.coffer.dev') ? brokenCustomObject(before, after) : []),
    ...(rules[resource]?.(before, after) ?? []),
  ];
  if (causes.length > 0) throw ApiError.invalid(after.kind, after.metadata.name, causes);
}

/** As `admit`, for what is written to the status subresource. */
export function admitStatus(resource: string, after: ApiObject): void {
  const causes = brokenStatus(resource, after);
  if (causes.length > 0) throw ApiError.invalid(after.kind, after.metadata.name, causes);
}

type Rule = (before: ApiObject | undefined, after: ApiObject) => Cause[];

const rules: Readonly<Record<string, Rule>> = {
  'statefulsets.apps': (before, after) => [...frozen(before, after), ...brokenTemplate(after)],
  'deployments.apps': (_before, after) => brokenTemplate(after),
  pods: (before, after) =>
    before === undefined
      ? brokenPod(after['spec'], 'spec')
      : sameJson(withoutAllowed(before['spec']), withoutAllowed(after['spec']))
        ? []
        : [{ field: 'spec', message: 'Forbidden: pod updates may not change fields other than a few' }],
  secrets: (before, after) => [...frozenData(before, after), ...brokenBase64(after)],
  configmaps: frozenData,
  services: (before, after) => {
    const [former, now] = [specOf(before)['clusterIP'], specOf(after)['clusterIP']];
    const changed = former !== undefined && former !== now;
    const name = /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(after.metadata.name) && after.metadata.name.length < 64;
    return [
      ...(changed ? [{ field: 'spec.clusterIP', message: 'field is immutable' }] : []),
      ...(name ? [] : [{ field: 'metadata.name', message: 'a DNS-1035 label must start with a letter' }]),
    ];
  },
  'leases.coordination.k8s.io': (_before, after) =>
    ['acquireTime', 'renewTime'].flatMap((field) => {
      const time = specOf(after)[field];
      if (time === undefined || (typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time)))
        return [];
      return [{ field: `spec.${field}`, message: `${JSON.stringify(time)} is no MicroTime: six digits of a second` }];
    }),
  'networkpolicies.networking.k8s.io': (_before, after) =>
    isObject(specOf(after)['podSelector']) ? [] : [{ field: 'spec.podSelector', message: 'Required value' }],
};

function brokenMetadata({ name, labels = {}, annotations = {}, ownerReferences = [] }: ApiObject['metadata']): Cause[] {
  const causes: Cause[] = [];
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$/.test(name)) {
    causes.push({ field: 'metadata.name', message: `${JSON.stringify(name)} is no RFC 1123 subdomain` });
  }
  for (const [key, value] of Object.entries(labels)) {
    if (
      typeof value !== 'string' ||
      value.length > 63 ||
      !/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(value)
    ) {
      causes.push({ field: `metadata.labels.${key}`, message: `${JSON.stringify(value)} is no label value` });
    }
  }
  for (const key of [...Object.keys(labels), ...Object.keys(annotations)]) {
    if (!/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(key)) {
      causes.push({ field: 'metadata', message: `${JSON.stringify(key)} is no qualified name` });
    }
  }
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (Object.values(annotations).some((value) => typeof value !== 'string')) {
    causes.push({ field: 'metadata.annotations', message: 'values must be strings' });
  }
  if (size > 262_144) causes.push({ field: 'metadata.annotations', message: `Too long: ${size} bytes` });
  for (const owner of ownerReferences) {
    if (!owner.uid || !owner.name || !owner.kind || !owner.apiVersion) {
      causes.push({ field: 'metadata.ownerReferences', message: 'uid, name, kind and apiVersion must not be empty' });
    }
  }
  if (ownerReferences.filter(({ controller }) => controller === true).length > 1) {
    causes.push({ field: 'metadata.ownerReferences', message: 'Only one reference can have Controller set to true' });
  }
  return causes;
}

/** By the project's own checks, which the CRDs are made from. */
function brokenCustomObject(before: ApiObject | undefined, after: ApiObject): Cause[] {
  const former = before === undefined ? undefined : validate(manifestOf(before));
  const previous: CofferObject | undefined = former?.kind === 'object' ? former.object : undefined;
  const checked = validate(manifestOf(after), previous, { asApiServer: true });
  return checked.kind === 'invalid' ? [...checked.problems] : [];
}

function manifestOf({ apiVersion, kind, metadata, spec }: ApiObject): object {
  const { name, namespace, labels, annotations } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec };
}

/** Of a StatefulSet only these may change. */
const changeable: ReadonlySet<string> = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]);

function frozen(before: ApiObject | undefined, after: ApiObject): Cause[] {
  if (before === undefined) return [];
  if (sameJson(frozenSpec(before), frozenSpec(after))) return [];
  return [
    {
      field: 'spec',
      message:
        "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' and a few are forbidden",
    },
  ];
}

function frozenSpec(set: ApiObject): JsonObject {
  return Object.fromEntries(Object.entries(specOf(set)).filter(([key]) => !changeable.has(key)));
}

function brokenTemplate(after: ApiObject): Cause[] {
  const template = specOf(after)['template'];
  if (!isObject(template)) return [{ field: 'spec.template', message: 'Required value' }];
  const labels = isObject(template['metadata']) ? template['metadata']['labels'] : {};
  const selects = selectorObject(specOf(after)['selector']);
  const claims = specOf(after)['volumeClaimTemplates'];
  const claimed = Array.isArray(claims) ? (claims as ApiObject[]).map(({ metadata: { name } }) => name) : [];
  return [
    ...(selects({ metadata: { labels } } as ApiObject)
      ? []
      : [{ field: 'spec.template.metadata.labels', message: '`selector` does not match template `labels`' }]),
    ...brokenPod(template['spec'], 'spec.template.spec', claimed),
  ];
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
}

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: unknown }[];
  readonly ports?: readonly { readonly name?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

function brokenPod(spec: unknown, field: string, claims: readonly string[] = []): Cause[] {
  const { containers = [], initContainers = [], volumes = [] } = (isObject(spec) ? spec : {}) as PodSpec;
  const known = new Set([...volumes.map(({ name }) => name), ...claims]);
  const all = [...containers, ...initContainers];
  return [
    ...(containers.length === 0 ? [{ field: `${field}.containers`, message: 'Required value' }] : []),
    ...twice(
      volumes.map(({ name }) => name),
      `${field}.volumes`,
    ),
    ...twice(
      all.map(({ name = '' }) => name),
      `${field}.containers`,
    ),
    ...all.flatMap((container) => brokenContainer(container, `${field}.containers[${container.name}]`, known)),
  ];
}

function brokenContainer(container: Container, field: string, volumes: ReadonlySet<string>): Cause[] {
  const { name, image, env = [], ports = [], volumeMounts = [] } = container;
  return [
    ...(name === undefined ? [{ field: `${field}.name`, message: 'Required value' }] : []),
    ...(image === undefined || image === '' ? [{ field: `${field}.image`, message: 'Required value' }] : []),
    ...env
      .filter(({ value }) => value !== undefined && typeof value !== 'string')
      .map((variable) => ({ field: `${field}.env[${variable.name}]`, message: 'must be a string' })),
    ...ports
      .filter(
        (port) =>
          port.name !== undefined && (port.name.length > 15 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(port.name)),
      )
      .map((port) => ({ field: `${field}.ports`, message: `${port.name} is no port name` })),
    ...volumeMounts
      .filter((mount) => !volumes.has(mount.name))
      .map((mount) => ({ field: `${field}.volumeMounts`, message: `Not found: ${mount.name}` })),
    ...twice(
      volumeMounts.map(({ mountPath }) => mountPath),
      `${field}.volumeMounts`,
    ),
  ];
}

function twice(names: readonly string[], field: string): Cause[] {
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => ({ field, message: `Duplicate value: ${name}` }));
}

function withoutAllowed(spec: unknown): unknown {
  if (!isObject(spec)) return spec;
  const { nodeName: _node, tolerations: _tolerations, activeDeadlineSeconds: _deadline, ...rest } = spec;
  const containers = (rest['containers'] as JsonObject[]).map(({ image: _image, ...container }) => container);
  return { ...rest, containers };
}

function frozenData(before: ApiObject | undefined, after: ApiObject): Cause[] {
  if (before === undefined) return [];
  const causes: Cause[] = [];
  if (before['immutable'] === true && (after['immutable'] !== true || !sameJson(before['data'], after['data']))) {
    causes.push({ field: 'data', message: 'field is immutable when `immutable` is set' });
  }
  if (before['type'] !== after['type']) causes.push({ field: 'type', message: 'field is immutable' });
  return causes;
}

function brokenBase64(secret: ApiObject): Cause[] {
  const data = isObject(secret['data']) ? secret['data'] : {};
  return Object.entries(data)
    .filter(([, value]) => typeof value !== 'string' || Buffer.from(value, 'base64').toString('base64') !== value)
    .map(([key]) => ({ field: `data.${key}`, message: 'illegal base64 data' }));
}

function specOf(object: ApiObject | undefined): JsonObject {
  return isObject(object?.['spec']) ? object['spec'] : {};
}
