import {
  KubeError,
  type KubeApi,
  type KubeObject,
  type ListOptions,
  type ResourceType,
} from '../kube-client/kube-api.ts';
import type { LogOptions } from '../kube-client/kube-client.ts';

/** The calls of the plugin to the API server. It never creates or deletes objects. */
export interface Cluster extends Pick<KubeApi, 'get' | 'list' | 'patch'> {
  log(namespace: string, pod: string, options?: LogOptions): Promise<string>;
}

/** Lists a whole collection, page by page. */
export async function listAll(
  cluster: Cluster,
  type: ResourceType,
  options: Omit<ListOptions, 'limit' | 'continue'> = {},
): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await cluster.list(type, {
      ...options,
      limit: 500,
      continue: next,
    });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}

/** Lists a collection that may not exist or not be readable. The reason is added to `missed`. */
export async function listIfAllowed(
  cluster: Cluster,
  type: ResourceType,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  missed: (issue: string) => void,
): Promise<readonly KubeObject[]> {
  try {
    return await listAll(cluster, type, options);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // The cluster does not know the type: cert-manager or the Prometheus operator is not installed.
    if (error.status !== 404) missed(`${type.plural}: ${error.message}`);
    return [];
  }
}
