import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Json, Workload } from '../../../contract/workload.ts';
import {
  exampleContext,
  exampleServer,
  fullServer,
  plainOptions,
} from '../../../../test/support/operator/example-workload.ts';
import { fileSecretNames, type ResolvedFile } from './object-context.ts';
import { workloadObjects } from './workload-objects.ts';

const files: readonly ResolvedFile[] = [
  { mount: 'root', path: 'rootPassword', reloads: false, content: 'root-password-value' },
  { mount: 'tls', path: 'tls.crt', reloads: true, content: 'certificate-value' },
];

function objectsOf(workload: Workload): readonly KubeObject[] {
  return workloadObjects(workload, { files, keptFiles: {}, kept: undefined }, exampleContext);
}

function find(objects: readonly KubeObject[], kind: string): KubeObject | undefined {
  return objects.find((object) => object.kind === kind);
}

function template(workload: Workload): { readonly [key: string]: Json } {
  return (find(objectsOf(workload), 'StatefulSet') as unknown as { spec: { template: { [key: string]: Json } } }).spec
    .template;
}

const yaml = (objects: readonly KubeObject[]) =>
  stringify(objects, { aliasDuplicateObjects: false, singleQuote: true });

describe('the objects', () => {
  it('are those of a server that asks for nothing', async () => {
    await expect(yaml(objectsOf(exampleServer()))).toMatchFileSnapshot('../golden/server.yaml');
  });
  it('are those of servers that ask for everything', async () => {
    await expect(yaml(objectsOf(fullServer()))).toMatchFileSnapshot('../golden/server-with-everything.yaml');
  });
  it('hold secrets in Secrets alone', () => {
    const others = objectsOf(fullServer()).filter(({ kind }) => kind !== 'Secret');
    const values = files.map(({ content }) => Buffer.from(content).toString('base64'));
    for (const value of [...values, ...files.map(({ content }) => content)]) {
      expect(JSON.stringify(others)).not.toContain(value);
    }
  });
});

function publishedWhenNotReady(workload: Workload): readonly (boolean | undefined)[] {
  return objectsOf(workload)
    .filter(({ kind, metadata }) => kind === 'Service' && !metadata.name.endsWith('-headless'))
    .map((object) => (object['spec'] as { publishNotReadyAddresses?: boolean }).publishNotReadyAddresses);
}

describe('a lone instance', () => {
  it('has no disruption budget: it would keep its node from being drained', () => {
    expect(find(objectsOf(exampleServer()), 'PodDisruptionBudget')).toBeUndefined();
  });
  it('is reached before it is ready: no other can answer meanwhile', () => {
    expect(publishedWhenNotReady(exampleServer())).toEqual([true]);
    expect(publishedWhenNotReady(exampleServer({ replicas: 3 }))).toEqual([false]);
  });
});

describe('several instances', () => {
  it('may go one at a time', () => {
    expect(find(objectsOf(exampleServer({ replicas: 3 })), 'PodDisruptionBudget')?.['spec']).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });
  it('have no claims of their own where they keep nothing', () => {
    const mounts = exampleServer().mounts.filter(({ kind }) => kind === 'files');
    const set = find(objectsOf(exampleServer({ replicas: 3, mounts })), 'StatefulSet');
    expect(Object.keys(set?.['spec'] as object)).not.toContain('volumeClaimTemplates');
  });
});

describe('a hibernated workload', () => {
  it('has no instances, and keeps everything else', () => {
    const objects = objectsOf(exampleServer({ replicas: 3, kubernetes: { ...plainOptions, hibernated: true } }));
    expect(find(objects, 'StatefulSet')?.['spec']).toMatchObject({ replicas: 0 });
    expect(find(objects, 'PodDisruptionBudget')).toBeUndefined();
    expect(find(objects, 'Service')).toBeDefined();
  });
});

const admitting = (admits: Readonly<Record<string, readonly string[] | undefined>>) => {
  const kubernetes = { ...plainOptions, networkPolicy: { admits, alsoFrom: [] } };
  const context = { ...exampleContext, operatorNamespace: undefined };
  const parts = { files, keptFiles: {}, kept: undefined };
  return find(workloadObjects(exampleServer({ kubernetes }), parts, context), 'NetworkPolicy')?.['spec'];
};

describe('the network policy', () => {
  it('admits nobody to a port that is not named', () => {
    expect(admitting({ s3: undefined })).toMatchObject({ ingress: [{ ports: [{ port: 9000 }] }] });
  });
  it('lets the pods out to everywhere: databases and buckets are where they are', () => {
    expect(admitting({ s3: [] })).toMatchObject({ policyTypes: ['Ingress'] });
  });
  it('admits nobody where nobody is named, instead of everyone', () => {
    expect(admitting({ s3: [] })).toMatchObject({ ingress: [] });
  });
});

const digest = (value: string) => `digest of ${value}`;

describe('the Secret of files that do not reload', () => {
  it('has another name when a file has other content', () => {
    const changed = files.map((file) => (file.reloads ? file : { ...file, content: 'other' }));
    expect(fileSecretNames('demo', changed, digest).fixed).not.toBe(fileSecretNames('demo', files, digest).fixed);
  });
  it('keeps its name when a file that reloads changes', () => {
    const changed = files.map((file) => (file.reloads ? { ...file, content: 'other' } : file));
    expect(fileSecretNames('demo', changed, digest)).toEqual(fileSecretNames('demo', files, digest));
  });
  it('has a name that tells nothing without the key', () => {
    expect(fileSecretNames('demo', files, digest).fixed).not.toBe(fileSecretNames('demo', files, (v) => v).fixed);
  });
});

describe('arguments and the environment', () => {
  it('are taken as they stand: a kubelet replaces no $(NAME) in them', () => {
    const environment = [{ name: 'SVC_X', value: { kind: 'text', parts: ['a$(HOME)b'] } as const }];
    expect(JSON.stringify(template(exampleServer({ environment })))).toContain('a$$(HOME)b');
  });
});
