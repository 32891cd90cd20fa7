import { readFileSync } from 'node:fs';
import { Scalar, stringify } from 'yaml';
import { apiGroup } from '../operator/api/object.ts';
import { cofferKinds } from './render-chart.ts';

const folder = new URL('argocd/', import.meta.url);
const restartable = ['restart', 'rotate'];
const pausable = [...restartable, 'pause', 'hibernate', 'resume'];
const actionsOf: Readonly<Record<string, readonly string[]>> = { Tenant: pausable, KMSConfig: restartable };

/** `deploy/argocd/argocd-cm.yaml`: what to merge into Argo CD's ConfigMap, from the Lua files beside it. */
export function argocdFiles(): ReadonlyMap<string, string> {
  const data = cofferKinds.flatMap(({ kind }) => {
    const health = [`resource.customizations.health.${apiGroup}_${kind}`, block(lua('health'))] as const;
    const names = actionsOf[kind];
    return names === undefined
      ? [health]
      : [health, [`resource.customizations.actions.${apiGroup}_${kind}`, block(actions(names))] as const];
  });
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd', labels: { 'app.kubernetes.io/part-of': 'argocd' } },
    data: Object.fromEntries(data),
  };
  const head =
    '# Made by `npm run manifests` from the *.lua beside it: kubectl apply --server-side -f argocd-cm.yaml\n';
  return new Map([['deploy/argocd/argocd-cm.yaml', head + stringify(configMap, { lineWidth: 0 })]]);
}

function actions(names: readonly string[]): string {
  return stringify(
    {
      'discovery.lua': block(lua('actions/discovery')),
      definitions: names.map((name) => ({ name, 'action.lua': block(lua(`actions/${name}`)) })),
    },
    { lineWidth: 0 },
  );
}

function lua(name: string): string {
  return readFileSync(new URL(`${name}.lua`, folder), 'utf8');
}

function block(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = Scalar.BLOCK_LITERAL;
  return scalar;
}
