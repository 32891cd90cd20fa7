import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import {
  adjustedClaim,
  dataVolumeOf,
  deletedClaims,
  growths,
  isFoundVolume,
  markedClaim,
  otherTemplates,
  resizingVolumes,
} from './claims.ts';
import { exampleContext, exampleServer } from '../../../../test/support/operator/example-workload.ts';
import { workloadLabels } from '../objects/labels.ts';
import { sharedClaims, claimTemplates } from '../objects/volumes.ts';
import { quantityValue } from '../../../api/volume-fields.ts';

function claim(name: string, storage: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage } } },
  };
}

describe('quantities', () => {
  it.each([
    ['1Ki', 1024],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['100M', 1e8],
    ['1e9', 1e9],
    ['1E', 1e18],
    ['500m', 0.5],
    ['10', 10],
    ['ten', undefined],
    ['10GiB', undefined],
    ['', undefined],
  ])('%s is %s', (quantity, value) => {
    expect(quantityValue(quantity)).toBe(value);
  });
});

describe('a volume that is smaller than asked for', () => {
  it('grows', () => {
    expect(growths(exampleServer(), [claim('data-demo-0', '5Gi')])).toMatchObject([
      { claim: 'data-demo-0', from: '5Gi', to: '10Gi' },
    ]);
  });
  it.each(['10Gi', '10240Mi', '20Gi'])('does not when it has %s', (has) => {
    expect(growths(exampleServer(), [claim('data-demo-0', has)])).toEqual([]);
  });
  it('does not when it has another owner', () => {
    expect(growths(exampleServer(), [claim('data-demo-two-0', '5Gi'), claim('other-demo-0', '5Gi')])).toEqual([]);
  });
});

const podUsing = (claimName: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'demo-1' },
  spec: {
    volumes: [
      { name: 'tmp', emptyDir: {} },
      { name: 'data', persistentVolumeClaim: { claimName } },
    ],
  },
});

describe('claims that were deleted', () => {
  const deleted = (name: string): KubeObject => {
    const live = claim(name, '5Gi');
    return { ...live, metadata: { ...live.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  };
  const claims = [deleted('data-demo-1'), claim('data-demo-0', '5Gi')];

  it('are those that a pod still uses', () => {
    expect(deletedClaims(claims, [podUsing('data-demo-0'), podUsing('data-demo-1')])).toEqual(['data-demo-1']);
  });

  it('are none without a pod: nothing can be saved by waiting', () => {
    expect(deletedClaims(claims, [podUsing('data-demo-0')])).toEqual([]);
  });
});

describe('a shared claim that exists', () => {
  it('is sent with the size that it has, and with nothing that cannot change', () => {
    const wanted = {
      ...claim('demo-data', '10Gi'),
      spec: { ...(claim('', '10Gi')['spec'] as object), storageClassName: 'slow' },
    };
    expect(adjustedClaim(wanted, claim('demo-data', '20Gi'))['spec']).toEqual(claim('', '20Gi')['spec']);
  });
});

const ofKeys = (size: string) =>
  exampleServer({
    mounts: [{ kind: 'volume', name: 'keys', size, claim: { kind: 'shared', accessMode: 'ReadWriteOnce' } }],
  });

describe('a shared claim that is smaller than asked for', () => {
  it('grows as the others do, so that a refusal keeps nothing else from being done', () => {
    expect(growths(ofKeys('2Gi'), [claim('demo-keys', '1Gi'), claim('demo-keys-2', '1Gi')])).toMatchObject([
      { claim: 'demo-keys', from: '1Gi', to: '2Gi' },
    ]);
  });
});

const grown = (status: object, asked = '10Gi') => [{ ...claim('data-demo-0', asked), status }];
const is = (type: string, message = '') => ({ conditions: [{ type, status: 'True', message }] });

describe('a claim whose volume', () => {
  const capacity = { storage: '5Gi' };
  const told = (status: object) => resizingVolumes(exampleServer(), grown({ capacity, ...status }));
  const size = { claim: 'data-demo-0', has: '5Gi', asked: '10Gi' };

  it('is smaller than it asks for is growing', () => {
    expect(told({})).toEqual([{ ...size, state: 'growing' }]);
    expect(told(is('Resizing'))).toEqual([{ ...size, state: 'growing' }]);
  });
  it('is growing, whatever asked for it', () => {
    expect(resizingVolumes(undefined, grown({ capacity }))).toEqual([{ ...size, state: 'growing' }]);
  });
  it('has grown without its file system waits for its pod', () => {
    const message = 'Waiting for user to (re-)start a pod';
    expect(told(is('FileSystemResizePending', message))).toEqual([{ ...size, state: 'waits-for-pod', message }]);
  });
  it.each(['ControllerResizeError', 'NodeResizeError', 'ControllerResizeFailed'])(
    'could not grow says why (%s)',
    (type) => {
      expect(told(is(type, 'no space left'))).toEqual([{ ...size, state: 'failed', message: 'no space left' }]);
    },
  );
  it('cannot grow at all has failed', () => {
    expect(told({ allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } })).toEqual([
      { ...size, state: 'failed' },
    ]);
  });
  it.each([
    { capacity: { storage: '10Gi' } },
    { capacity: { storage: '16Gi' } },
    { capacity: { storage: '10240Mi' } },
    { phase: 'Pending' },
  ])('has its size, or is not there, needs nothing: %j', (status) =>
    expect(resizingVolumes(exampleServer(), grown(status))).toEqual([]),
  );
  it('did not grow, and is asked for its own size again, needs nothing more, and is told', () => {
    const failed = { capacity: { storage: '10Gi' }, ...is('ControllerResizeError', 'no space left') };
    expect(resizingVolumes(exampleServer(), grown(failed, '20Gi'))).toEqual([
      { claim: 'data-demo-0', has: '10Gi', asked: '20Gi', state: 'taken-back' },
    ]);
    expect(growths(exampleServer(), grown(failed, '20Gi'))).toEqual([]);
  });
  it('did not grow, and is asked for less growth, asks for less', () => {
    expect(growths(exampleServer(), grown({ capacity: { storage: '5Gi' } }, '20Gi'))).toEqual([
      {
        claim: 'data-demo-0',
        patch: { spec: { resources: { requests: { storage: '10Gi' } } } },
        from: '20Gi',
        to: '10Gi',
        isReduction: true,
      },
    ]);
  });
  it('did not grow, and is larger than asked for, keeps its size', () => {
    expect(resizingVolumes(exampleServer(), grown({ capacity: { storage: '15Gi' } }, '20Gi'))).toEqual([
      { claim: 'data-demo-0', has: '15Gi', asked: '10Gi', state: 'cannot-shrink' },
    ]);
  });
  it('is larger than its resource asks for keeps its size', () => {
    expect(resizingVolumes(exampleServer(), grown({ capacity: { storage: '20Gi' } }, '20Gi'))).toEqual([
      { claim: 'data-demo-0', has: '20Gi', asked: '10Gi', state: 'cannot-shrink' },
    ]);
  });
});

const keys = (sealedFor: readonly string[]) => {
  const mount = {
    kind: 'volume',
    name: 'keys',
    size: '1Gi',
    claim: { kind: 'shared', accessMode: 'ReadWriteOnce', sealedFor },
  } as const;
  const kubernetes = { ...exampleServer().kubernetes, reclaimPolicy: 'Delete' } as const;
  const [wanted] = sharedClaims(exampleServer({ mounts: [mount], kubernetes }), exampleContext);
  if (wanted === undefined) throw new Error('no claim was rendered');
  return wanted;
};
const without = ({ metadata, ...rest }: KubeObject): KubeObject => {
  const { annotations: _, ...bare } = metadata;
  return { ...rest, metadata: bare };
};

describe('a claim of keys with reclaimPolicy Delete', () => {
  it('goes with its KMSConfig while nobody sealed anything with its keys', () => {
    expect(adjustedClaim(keys([]), keys([])).metadata.ownerReferences).toEqual([exampleContext.owner]);
  });
  it('has no owner once a tenant was admitted', () => {
    expect(keys(['Tenant demo']).metadata.ownerReferences).toBeUndefined();
  });
  it('has no owner after the tenant is gone', () => {
    const adjusted = adjustedClaim(keys([]), keys(['Tenant demo']));
    expect([adjusted.metadata.ownerReferences, adjusted.metadata.annotations]).toEqual([
      undefined,
      { 'coffer.dev/sealed-for': 'Tenant demo' },
    ]);
  });
  it('has no owner where an earlier operator kept no note', () => {
    expect(adjustedClaim(keys([]), without(keys([]))).metadata.ownerReferences).toBeUndefined();
  });
});

describe('the templates of claims', () => {
  it('are the same with the class that the cluster filled in', () => {
    const [live] = claimTemplates(exampleServer()) as unknown as { spec: object }[];
    expect(otherTemplates(exampleServer(), [{ ...live, spec: { ...live?.spec, storageClassName: 'standard' } }])).toBe(
      false,
    );
  });
  it('are others with another volume', () => {
    expect(otherTemplates(exampleServer(), [])).toBe(true);
  });
});

describe('the volume of a server', () => {
  const uid = '33333333-3333-4333-8333-333333333333';
  const deployment = '11111111-1111-4111-8111-111111111111';
  const server = exampleServer();
  const made = (creationTimestamp: string, metadata: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-demo-0', uid, creationTimestamp, labels: workloadLabels(server), ...metadata },
  });
  const statefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'demo', creationTimestamp: '2026-11-30T10:00:00Z' },
  };
  const after = '2026-11-30T10:00:00Z';
  const before = '2026-11-30T09:59:59Z';

  it('is its own where its StatefulSet made it', () => {
    expect(dataVolumeOf(made(after), server, statefulSet)).toEqual({ claim: 'data-demo-0' });
  });

  it.each([
    ['older than the StatefulSet', made(before), statefulSet],
    ['without a StatefulSet', made(after), undefined],
    ['without the labels of the template', made(after, { labels: {} }), statefulSet],
    [
      'with the labels of another workload',
      made(after, { labels: { ...workloadLabels(server), 'coffer.dev/workload': 'two' } }),
      statefulSet,
    ],
    [
      'with a mark that names no deployment',
      made(before, { annotations: { 'coffer.dev/deployment': 'first' } }),
      statefulSet,
    ],
  ])('is not proven where it is %s', (_, live, set) => {
    expect(dataVolumeOf(live, server, set)).toEqual({ claim: 'data-demo-0', unproven: uid });
  });

  it('names its deployment once it is marked, once', () => {
    const patch = markedClaim(made(before, { labels: {} }), server, statefulSet, deployment) as { metadata: object };
    expect(patch.metadata).toMatchObject({ uid, labels: workloadLabels(server) });
    const marked = made(before, patch.metadata);
    expect(dataVolumeOf(marked, server, undefined)).toEqual({ claim: 'data-demo-0', deployment });
    expect(markedClaim(marked, server, statefulSet, deployment)).toBeUndefined();
  });

  it('stays when the resource is deleted that did not make it, a restored one with its marks too', () => {
    expect(isFoundVolume(made(before), server, statefulSet)).toBe(true);
    expect(isFoundVolume(made(after), server, statefulSet)).toBe(false);
    const patch = markedClaim(made(after), server, statefulSet, deployment) as { metadata: object };
    const marked = made(before, patch.metadata);
    expect(isFoundVolume(marked, server, statefulSet)).toBe(false);
    const restored = made(before, { ...patch.metadata, uid: '44444444-4444-4444-8444-444444444444' });
    expect(isFoundVolume(restored, server, statefulSet)).toBe(true);
  });
});
