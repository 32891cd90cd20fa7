import { stringify } from 'yaml';
import type { Manifest } from './render-chart.ts';

export const namespace = 'coffer-system';

const head = '# Made by `npm run manifests` from charts/coffer-operator. Do not edit.\n';

/** A rendered object without what only Helm needs. */
export function withoutHelm(manifest: Manifest): Manifest {
  const { labels, ...metadata } = manifest.metadata;
  if (labels === undefined) return manifest;
  const kept = Object.entries(labels).filter(
    ([name]) => !['helm.sh/chart', 'app.kubernetes.io/managed-by'].includes(name),
  );
  return { ...manifest, metadata: { ...metadata, labels: Object.fromEntries(kept) } };
}

/** Files of `deploy/kustomize` but for its CRDs, by name. `rendered`: the chart without CRDs. */
export function kustomizeFiles(
  rendered: readonly Manifest[],
  crdNames: readonly string[],
): ReadonlyMap<string, string> {
  const objects = rendered.filter((manifest) => !isHook(manifest)).map(withoutHelm);
  const operator = objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
  return new Map([
    ['kustomization.yaml', head + kustomization(objects, crdNames)],
    ['namespace.yaml', head + stringify(namespaceObject())],
    ['operator.yaml', head + operator],
  ]);
}

export function isHook(manifest: Manifest): boolean {
  return manifest.metadata.annotations?.['helm.sh/hook'] !== undefined;
}

function namespaceObject(): Manifest {
  // The operator passes the strictest of Kubernetes' Pod Security Standards, and the namespace holds it to that.
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
}

function kustomization(objects: readonly Manifest[], crdNames: readonly string[]): string {
  const container = containerOf(objects);
  const [repository = '', tag = ''] = container.image.split(':');
  const operandImage = container.args.findIndex((argument) => argument.startsWith('--image='));
  const deployment = { kind: 'Deployment', name: 'coffer-operator' };
  return stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace,
    resources: ['namespace.yaml', ...crdNames.map((name) => `crds/${name}`), 'operator.yaml'],
    images: [{ name: repository, newTag: tag }],
    // Servers and key services run the operator's own image.
    replacements: [
      {
        source: { ...deployment, fieldPath: 'spec.template.spec.containers.[name=operator].image' },
        targets: [
          {
            select: deployment,
            fieldPaths: [`spec.template.spec.containers.[name=operator].args.${operandImage}`],
            options: { delimiter: '=', index: 1 },
          },
        ],
      },
    ],
  });
}

interface OperatorContainer {
  readonly image: string;
  readonly args: readonly string[];
}

function containerOf(objects: readonly Manifest[]): OperatorContainer {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as
    | { readonly spec: { readonly template: { readonly spec: { readonly containers: readonly OperatorContainer[] } } } }
    | undefined;
  const container = deployment?.spec.template.spec.containers[0];
  if (container === undefined) throw new TypeError('the chart renders no Deployment');
  return container;
}
