import { listen, mounted, plain, text, type Workload } from '../../../operator/contract/workload.ts';
import type { ObjectContext } from '../../../operator/runtime/kubernetes/objects/object-context.ts';

const owner = { kind: 'Tenant', name: 'demo' } as const;

/** Workloads for tests. */
export function exampleServer(changes: Partial<Workload> = {}): Workload {
  return {
    name: 'demo',
    owner,
    program: 'coffer-server',
    arguments: [text`${mounted('data')}`, text`--address`, text`${listen('s3')}`],
    environment: [{ name: 'SVC_REGION', value: plain('eu-west-1') }],
    ports: [
      { name: 's3', port: 9000, host: '127.0.0.1', field: 'spec.addresses.s3.port of Tenant demo' },
      { name: 'console', port: 9090, host: '127.0.0.1', field: 'spec.addresses.console.port of Tenant demo' },
    ],
    mounts: [
      { kind: 'volume', name: 'data', size: '10Gi', claim: { kind: 'each', accessMode: 'ReadWriteOnce' } },
      {
        kind: 'files',
        name: 'root',
        files: [
          { path: 'rootPassword', content: { kind: 'secret', secret: 'root', key: 'rootPassword' }, reloads: false },
        ],
      },
      {
        kind: 'files',
        name: 'tls',
        files: [{ path: 'tls.crt', content: { kind: 'secret', secret: 'tls', key: 'tls.crt' }, reloads: true }],
      },
    ],
    readiness: { kind: 'http', port: 's3', path: '/minio/health/ready', tls: true },
    liveness: { kind: 'http', port: 's3', path: '/minio/health/live', tls: true },
    dependsOn: [],
    replicas: 1,
    kubernetes: plainOptions,
    inputs: [{ reason: 'ImageChanged', field: 'spec.image', of: owner, fingerprint: 'a' }],
    ...changes,
  };
}

export const plainOptions: Workload['kubernetes'] = {
  pod: { imagePullSecrets: [], labels: {}, annotations: {}, terminationGracePeriodSeconds: 30 },
  reclaimPolicy: 'Retain',
  hibernated: false,
  services: {},
  ingresses: [],
  networkPolicy: undefined,
  monitoring: undefined,
};

/** Everything that a resource can ask for. */
export function fullServer(): Workload {
  return exampleServer({
    image: 'registry.example/coffer:2',
    replicas: 3,
    mounts: [
      ...exampleServer().mounts.filter(({ name }) => name !== 'data'),
      {
        kind: 'volume',
        name: 'data',
        size: '1Ti',
        claim: { kind: 'shared', accessMode: 'ReadWriteMany', storageClassName: 'nfs' },
      },
    ],
    kubernetes: {
      pod: {
        imagePullPolicy: 'Always',
        imagePullSecrets: ['pull'],
        serviceAccountName: 'storage',
        labels: { team: 'a', 'coffer.dev/workload': 'never' },
        annotations: { note: 'b' },
        resources: { limits: { memory: '1Gi' } },
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'storage', operator: 'Exists' }],
        affinity: { podAntiAffinity: {} },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
        priorityClassName: 'high',
        runtimeClassName: 'gvisor',
        podSecurityContext: { runAsUser: null, fsGroup: 2000 },
        containerSecurityContext: { readOnlyRootFilesystem: false },
        terminationGracePeriodSeconds: 60,
      },
      reclaimPolicy: 'Delete',
      hibernated: false,
      services: {
        s3: { type: 'LoadBalancer', port: 443, labels: { lb: 'a' }, annotations: { 'lb/type': 'internal' } },
        console: { type: 'NodePort', nodePort: 30_090, labels: {}, annotations: {} },
      },
      ingresses: [
        { port: 's3', host: 's3.example.com', className: 'nginx', annotations: { a: 'b' }, tlsSecretName: 'tls' },
        { port: 's3', host: 'other.example.com', annotations: {} },
      ],
      networkPolicy: {
        admits: { s3: undefined, console: ['proxy'] },
        alsoFrom: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
      },
      monitoring: {
        port: 's3',
        path: '/minio/v2/metrics/cluster',
        intervalSeconds: 30,
        labels: { release: 'prometheus' },
        tokenFrom: { secret: 'root', userKey: 'rootUser', passwordKey: 'rootPassword' },
      },
    },
  });
}

export const exampleContext: ObjectContext = {
  namespace: 'store',
  owner: {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'Tenant',
    name: 'demo',
    uid: 'uid-of-demo',
    controller: true,
    blockOwnerDeletion: false,
  },
  defaultImage: 'coffer:1',
  operatorNamespace: 'coffer-system',
  resolve: ({ parts }) => parts.map((part) => (typeof part === 'string' ? part : `{${part.kind}}`)).join(''),
  secret: (name, key) => `value of ${key} of ${name}`,
  fingerprint: (value) => `digest of ${value.length} characters`,
  files: { fixed: 'demo-files-0123456789ab', reloading: 'demo-reloading-files' },
};
