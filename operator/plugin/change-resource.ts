import { ProgramError } from '../../platform/errors/program-error.ts';
import { identityProviderKind, kmsConfigKind, tenantKind } from '../api/kinds.ts';
import type { ResourceType, KubeObject } from '../kube-client/kube-api.ts';
import { resourceTypes } from '../kube-client/resource-types.ts';
import { promoteAnnotation, restartAnnotation, rotateAnnotation } from '../api/tenant.ts';
import type { Json } from '../contract/workload.ts';
import type { Cluster } from './cluster.ts';

interface ResourceArgument {
  readonly type: ResourceType;
  readonly name: string;
}

const types = [
  { type: resourceTypes.tenant, words: ['tenant', tenantKind.plural, ...tenantKind.shortNames] },
  { type: resourceTypes.kmsConfig, words: ['kmsconfig', kmsConfigKind.plural, ...kmsConfigKind.shortNames] },
  {
    type: resourceTypes.identityProvider,
    words: ['identityprovider', identityProviderKind.plural, ...identityProviderKind.shortNames],
  },
];

/**
 * Parses `tenant/demo` or `kms/keys`, with any name of the kind that kubectl knows. A single name means a Tenant. Errors with a
 * `ProgramError`.
 */
export function resourceArgument(text: string, allowed: readonly ResourceType[]): ResourceArgument {
  const [first = '', second, ...rest] = text.split('/');
  const [word, name] = second === undefined ? ['tenant', first] : [first.toLowerCase(), second];
  const found = types.find(({ words }) => words.includes(word))?.type;
  if (found === undefined || rest.length > 0 || name === '') {
    throw new ProgramError('usage', `"${text}" is no KIND/NAME, e.g. tenant/demo`);
  }
  if (!allowed.includes(found)) {
    const kinds = allowed.map(({ kind }) => kind).join(' or ');
    throw new ProgramError('usage', `"${text}" names ${found.kind}; this command takes ${kinds}`);
  }
  return { type: found, name };
}

/** The change of a resource by a command: a JSON merge patch, and the message after it. */
export interface Change {
  readonly patch: Json;
  readonly done: string;
  /** True when it changes `spec`, which a GitOps tool may revert. */
  readonly inSpec: boolean;
}

const annotated = (annotation: string, now: Date): Json => ({
  metadata: { annotations: { [annotation]: now.toISOString() } },
});

export function restart(now: Date): Change {
  return { patch: annotated(restartAnnotation, now), done: 'restarts, one pod at a time', inSpec: false };
}

export function rotate(now: Date): Change {
  return {
    patch: annotated(rotateAnnotation, now),
    done: 'gets new keys for its certificates; nothing restarts, and the old ones are trusted for a while',
    inSpec: false,
  };
}

export function promote(now: Date): Change {
  return {
    patch: annotated(promoteAnnotation, now),
    done: 'goes on in place of the original, where its store was restored before now: within a minute, it acts for the deployment',
    inSpec: false,
  };
}

export function pause(): Change {
  return {
    patch: { spec: { paused: true } },
    done: 'is paused: what runs stays as it is until "kubectl coffer resume"',
    inSpec: true,
  };
}

export function hibernate(): Change {
  return {
    patch: { spec: { hibernated: true } },
    done: 'hibernates: its pods end, its volumes and Secrets stay, until "kubectl coffer resume"',
    inSpec: true,
  };
}

/** Reverts `pause` and `hibernate`; undefined when neither is set. */
export function resume({ spec }: KubeObject): Change | undefined {
  const { paused, hibernated } = (spec ?? {}) as { readonly paused?: boolean; readonly hibernated?: boolean };
  if (paused !== true && hibernated !== true) return undefined;
  return {
    patch: {
      spec: { ...(paused === true ? { paused: false } : {}), ...(hibernated === true ? { hibernated: false } : {}) },
    },
    done: hibernated === true ? 'wakes up' : 'goes on',
    inSpec: true,
  };
}

/**
 * Makes a change and answers a message for the user. Errors with a `KubeError` of the API server, or when the resource does not exist.
 */
export async function changeResource(
  cluster: Cluster,
  namespace: string,
  { type, name }: ResourceArgument,
  change: (current: KubeObject) => Change | undefined,
): Promise<string> {
  const current = await cluster.get(type, namespace, name);
  if (current === undefined) throw new Error(`there is no ${type.kind} ${name} in the namespace ${namespace}`);
  const wanted = change(current);
  if (wanted === undefined) return `${type.kind} ${name} is neither paused nor hibernated`;
  await cluster.patch(type, namespace, name, wanted.patch);
  const managed = wanted.inSpec && isFromGit(current) ? `\n${gitWarning}` : '';
  return `${type.kind} ${name} ${wanted.done}${managed}`;
}

const gitWarning = 'It is managed from Git, which may set it back: commit the change there too.';

/** Labels and annotations that Argo CD and Flux set. */
function isFromGit({ metadata: { annotations = {}, labels = {} } }: KubeObject): boolean {
  return (
    'argocd.argoproj.io/tracking-id' in annotations ||
    Object.keys(labels).some((name) => /^(kustomize|helm)\.toolkit\.fluxcd\.io\//.test(name))
  );
}
