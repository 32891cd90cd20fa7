import type { KubeApi, KubeObject } from '../../kube-client/kube-api.ts';
import { resourceTypes } from '../../kube-client/resource-types.ts';

/** Milliseconds for which the answer about a node is cached. */
const knownForMs = 600_000;

/** Finds the nodes with swap, as their kubelets report it since Kubernetes 1.34. */
export class SwapNodes {
  readonly #api: Pick<KubeApi, 'get'>;
  readonly #now: () => Date;
  readonly #known = new Map<string, { readonly swaps: boolean; readonly at: number }>();

  constructor(api: Pick<KubeApi, 'get'>, now: () => Date) {
    this.#api = api;
    this.#now = now;
  }

  /**
   * Answers the sorted names of nodes with swap that the pods run on. A node that does not report swap, or may not be read, is left out.
   */
  async of(pods: readonly KubeObject[]): Promise<readonly string[]> {
    const nodes = new Set(
      pods.flatMap(({ spec }) => (spec as { readonly nodeName?: string } | undefined)?.nodeName ?? []),
    );
    const found: string[] = [];
    for (const node of nodes) if (await this.#swaps(node)) found.push(node);
    return found.sort();
  }

  async #swaps(node: string): Promise<boolean> {
    const at = this.#now().getTime();
    const known = this.#known.get(node);
    if (known !== undefined && at - known.at < knownForMs) return known.swaps;
    for (const [name, { at: before }] of this.#known) if (at - before >= knownForMs) this.#known.delete(name);
    const swaps = await this.#ask(node);
    this.#known.set(node, { swaps, at });
    return swaps;
  }

  async #ask(node: string): Promise<boolean> {
    try {
      const object = await this.#api.get(resourceTypes.node, undefined, node);
      const { nodeInfo } = (object?.['status'] ?? {}) as {
        readonly nodeInfo?: { readonly swap?: { readonly capacity?: number } };
      };
      return (nodeInfo?.swap?.capacity ?? 0) > 0;
    } catch {
      // An operator of a few namespaces has no right to read nodes. The warning is not worth a failed reconcile.
      return false;
    }
  }
}
