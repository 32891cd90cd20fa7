import { apiVersion, type CofferObject } from '../../../../operator/api/object.ts';

/**
 * Manifests that are good, and changes that a rule refuses: the same cases run against the functions here and, in test/api-server,
 * against the CEL of the generated CRDs on a real API server.
 */
export interface RuleCases {
  readonly kind: CofferObject['kind'];
  readonly plural: string;
  readonly good: readonly { readonly title: string; readonly spec: Spec }[];
  readonly bad: readonly { readonly title: string; readonly spec: Spec; readonly message: string }[];
  /** What only the API server refuses. */
  readonly badAtApiServer?: RuleCases['bad'];
  /** A change of the first into the second spec is refused. */
  readonly badChanges: readonly {
    readonly title: string;
    readonly from: Spec;
    readonly to: Spec;
    readonly message: string;
  }[];
}

export type Spec = Readonly<Record<string, unknown>>;

export function manifestOf(kind: string, name: string, spec: Spec) {
  return { apiVersion, kind, metadata: { name }, spec };
}

/** Every field of a pod, as Tenant and KMSConfig have them. */
export const podSpec: Spec = {
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [{ name: 'registry' }],
  resources: { requests: { cpu: '500m', memory: '512Mi' } },
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  priorityClassName: 'high',
  runtimeClassName: 'gvisor',
  podSecurityContext: { fsGroup: 2000 },
  containerSecurityContext: { capabilities: { drop: ['ALL'] } },
  serviceAccountName: 'coffer',
  podLabels: { team: 'storage' },
  podAnnotations: { 'example.com/note': 'x' },
  terminationGracePeriodSeconds: 60,
};

/** What is no reference of an image. */
export function badImages(spec: Spec): RuleCases['bad'] {
  const images = [
    'Not An Image',
    'registry.example.com/Coffer:1',
    'coffer:1:2',
    'coffer:',
    'coffer@sha256:12',
    ' coffer',
  ];
  return images.map((image) => ({
    title: `the image "${image}"`,
    spec: { ...spec, image },
    message: 'image must be a reference without blanks',
  }));
}

/** Images that are told apart by what they have. */
export function goodImages(spec: Spec): RuleCases['good'] {
  const images = [
    'coffer',
    'a/b/c__d-e.f',
    'localhost:5000/coffer:1',
    `[::1]:5000/coffer:V_1@sha256:${'0a'.repeat(32)}`,
  ];
  return images.map((image) => ({ title: `the image "${image}"`, spec: { ...spec, image } }));
}
