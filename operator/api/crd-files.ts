import { stringify } from 'yaml';
import { customResourceDefinition } from './crd.ts';
import { bucketKind, identityProviderKind, kmsConfigKind, tenantKind } from './kinds.ts';
import { apiGroup } from './object.ts';

/** Every file of `crds/`, by its name. */
export function crdFiles(): ReadonlyMap<string, string> {
  const definitions = [
    [tenantKind.plural, customResourceDefinition(tenantKind)],
    [identityProviderKind.plural, customResourceDefinition(identityProviderKind)],
    [kmsConfigKind.plural, customResourceDefinition(kmsConfigKind)],
    [bucketKind.plural, customResourceDefinition(bucketKind)],
  ] as const;
  const head = '# Made by `npm run crds` from operator/api. Do not edit.\n';
  return new Map(
    definitions.map(([plural, definition]) => [
      `${apiGroup}_${plural}.yaml`,
      head + stringify(definition, { lineWidth: 0 }),
    ]),
  );
}
