import { stringify } from 'yaml';
import {
  clusterPermissions,
  ownPermissions,
  policyRules,
  watchedPermissions,
} from '../operator/runtime/kubernetes/permissions.ts';
import { readdirSync } from 'node:fs';
import { argocdFiles } from './argocd-files.ts';
import { kustomizeFiles, namespace } from './kustomize-files.ts';
import { olmFiles } from './olm-files.ts';
import { renderChart } from './render-chart.ts';
import { tenantValuesSchema } from './tenant-values-schema.ts';
import metadata from '../package.json' with { type: 'json' };

/** `files/permissions.yaml` of the chart: the rules that its Roles hold. */
function permissionsFile(): string {
  const document = {
    watched: policyRules(watchedPermissions),
    cluster: policyRules(clusterPermissions),
    own: policyRules(ownPermissions),
  };
  return (
    '# Made by `npm run manifests` from operator/runtime/kubernetes/permissions.ts, which says why. Do not edit.\n' +
    stringify(document, { aliasDuplicateObjects: false })
  );
}

/** Files that are made from the operator's sources alone, by path from the project's root. */
export function filesOfTheSources(): ReadonlyMap<string, string> {
  return new Map([
    ...argocdFiles(),
    ['charts/coffer-operator/files/permissions.yaml', permissionsFile()],
    ['charts/coffer-tenant/values.schema.json', `${JSON.stringify(tenantValuesSchema(), undefined, 2)}\n`],
  ]);
}

/** Files that are made from the chart of the operator, by path from the project's root. Needs helm. */
export async function filesOfTheChart(): Promise<ReadonlyMap<string, string>> {
  const rendered = await renderChart('coffer-operator', ['--namespace', namespace, '--set', 'crds.enabled=false']);
  const crds = readdirSync(new URL('../crds/', import.meta.url)).sort();
  return new Map([
    ...prefixed('deploy/kustomize/', kustomizeFiles(rendered, crds)),
    ...prefixed('deploy/olm/', olmFiles(rendered, metadata.version)),
  ]);
}

function prefixed(folder: string, files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].map(([name, content]) => [`${folder}${name}`, content]);
}
