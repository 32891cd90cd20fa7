import {
  KubeError,
  type KubeApi,
  type KubeObject,
  type ListOptions,
  type ResourceType,
} from '../kube-client/kube-api.ts';
import type { LogOptions } from '../kube-client/kube-client.ts';

/** What the plugin asks of the API server. It never creates or deletes anything. */
export interface Cluster extends Pick<KubeApi, 'get' | 'list' | 'patch'> {
  log(namespace: string, pod: string, options?: LogOptions): Promise<string>;
}

/** The whole of a collection, page by page. */
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
      ...(next === undefined ? {} : { continue: next }),
    });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}

/** As `listAll`, of what may not be there or not be shown: the reason why not goes to `missed`. */
export async function listIfAllowed(
  cluster: Cluster,
  type: ResourceType,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  missed: (problem: string) => void,
): Promise<readonly KubeObject[]> {
  try {
    return await listAll(cluster, type, options);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // No such type in this cluster: cert-manager or the Prometheus operator is not installed.
    if (error.status !== 404) missed(`${type.plural}: ${error.message}`);
    return [];
  }
}
