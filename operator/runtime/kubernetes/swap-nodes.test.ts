import { describe, expect, it } from 'vitest';
import { KubeError, type KubeObject } from '../../kube-client/kube-api.ts';
import { SwapNodes } from './swap-nodes.ts';

const pod = (nodeName?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'keys-0' },
  spec: nodeName === undefined ? {} : { nodeName },
});
const swaps: Readonly<Record<string, object>> = {
  swapping: { swap: { capacity: 1_073_741_824 } },
  empty: { swap: { capacity: 0 } },
  silent: { swap: {} },
  older: {},
};

function start() {
  const asked: string[] = [];
  const clock = { ms: 0 };
  const nodes = new SwapNodes(
    {
      get: (_type, _namespace, name) => {
        asked.push(name);
        const nodeInfo = swaps[name];
        if (nodeInfo === undefined) return Promise.reject(new KubeError(403, 'Forbidden', 'no'));
        return Promise.resolve({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { nodeInfo } });
      },
    },
    () => new Date(clock.ms),
  );
  return { nodes, asked, clock };
}

describe('the nodes of pods', () => {
  it('are named where they have swap', async () => {
    const { nodes } = start();
    const pods = [...Object.keys(swaps), undefined].map(pod);
    expect(await nodes.of(pods)).toEqual(['swapping']);
  });

  it('are not where they may not be read', async () => {
    expect(await start().nodes.of([pod('forbidden')])).toEqual([]);
  });

  it('are asked once in ten minutes', async () => {
    const { nodes, asked, clock } = start();
    for (const ms of [0, 599_999, 600_000]) {
      clock.ms = ms;
      await nodes.of([pod('swapping'), pod('swapping')]);
    }
    expect(asked).toHaveLength(2);
  });
});
