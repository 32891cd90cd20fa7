import { identityProviderKind, kmsConfigKind, tenantKind } from '../api/kinds.ts';
import type { ResourceType } from '../kube/kube-api.ts';
import { resourceTypes } from '../kube/resource-types.ts';

export interface ResourceArgument {
  readonly type: ResourceType;
  readonly name: string;
}

/** A mistake in what was typed: it is told without a stack, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const types = [
  { type: resourceTypes.tenant, words: ['tenant', tenantKind.plural, ...tenantKind.shortNames] },
  { type: resourceTypes.kmsConfig, words: ['kmsconfig', kmsConfigKind.plural, ...kmsConfigKind.shortNames] },
  {
    type: resourceTypes.identityProvider,
    words: ['identityprovider', identityProviderKind.plural, ...identityProviderKind.shortNames],
  },
];

/** `tenant/demo`, `kms/keys`, by any name that kubectl knows; only a name means a Tenant. Errors with a `UsageError`. */
export function resourceArgument(text: string, allowed: readonly ResourceType[]): ResourceArgument {
  const [first = '', second, ...rest] = text.split('/');
  const [word, name] = second === undefined ? ['tenant', first] : [first.toLowerCase(), second];
  const found = types.find(({ words }) => words.includes(word))?.type;
  if (found === undefined || rest.length > 0 || name === '') {
    throw new UsageError(`"${text}" is no KIND/NAME, e.g. tenant/demo`);
  }
  if (!allowed.includes(found)) {
    const kinds = allowed.map(({ kind }) => kind).join(' or ');
    throw new UsageError(`"${text}" names ${found.kind}; this command takes ${kinds}`);
  }
  return { type: found, name };
}
