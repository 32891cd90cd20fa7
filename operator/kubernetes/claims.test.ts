import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/kube-api.ts';
import { adjustedClaim, growths, otherTemplates } from './claims.ts';
import { exampleContext, exampleServer } from './objects/example-workload.ts';
import { sharedClaims } from './objects/shared-claims.ts';
import { claimTemplates } from './objects/volumes.ts';
import { quantityValue } from '../api/quantity.ts';

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
  it('does not when it is of somebody else', () => {
    expect(growths(exampleServer(), [claim('data-demo-two-0', '5Gi'), claim('other-demo-0', '5Gi')])).toEqual([]);
  });
});

describe('a shared claim that exists', () => {
  it('is never made smaller, nor given what cannot change', () => {
    const wanted = {
      ...claim('demo-data', '10Gi'),
      spec: { ...(claim('', '10Gi')['spec'] as object), storageClassName: 'slow' },
    };
    expect(adjustedClaim(wanted, claim('demo-data', '20Gi'))['spec']).toEqual(claim('', '20Gi')['spec']);
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
  it('belongs to nobody once a tenant was admitted', () => {
    expect(keys(['Tenant demo']).metadata.ownerReferences).toBeUndefined();
  });
  it('belongs to nobody after the tenant is gone', () => {
    const adjusted = adjustedClaim(keys([]), keys(['Tenant demo']));
    expect([adjusted.metadata.ownerReferences, adjusted.metadata.annotations]).toEqual([
      undefined,
      { 'coffer.dev/sealed-for': 'Tenant demo' },
    ]);
  });
  it('belongs to nobody where an operator of before kept no note', () => {
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
