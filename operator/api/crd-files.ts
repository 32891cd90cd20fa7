import { stringify } from 'yaml';
import { customResourceDefinition } from './crd.ts';
import { eachKind } from './each-kind.ts';
import { apiGroup } from './object.ts';

/** Every file of `crds/`, by its name. */
export function crdFiles(): ReadonlyMap<string, string> {
  const head = '# Made by `npm run crds` from operator/api. Do not edit.\n';
  return new Map(
    eachKind((kind) => [
      `${apiGroup}_${kind.plural}.yaml`,
      head + stringify(customResourceDefinition(kind), { lineWidth: 0 }),
    ]),
  );
}
