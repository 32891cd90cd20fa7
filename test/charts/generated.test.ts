import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filesOfTheSources } from '../../deploy/generated-files.ts';
import metadata from '../../package.json' with { type: 'json' };
import { crdFiles } from '../../operator/api/crd.ts';
import { clusterPermissions, ownPermissions, policyRules, watchedPermissions } from '../../operator/runtime/kubernetes/permissions.ts';
import { parse } from 'yaml';
import { chartFile } from './chart-values.ts';

// What is made by `npm run crds` and `npm run manifests` is as its sources are. What needs helm is held by test/api-server.

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

describe.each(['crds', 'charts/coffer-operator/files/crds', 'deploy/kustomize/crds', 'deploy/olm/manifests'])(
  'the CRDs of %s',
  (folder) => {
    it.each([...crdFiles()])('%s', (name, content) => {
      expect(read(`${folder}/${name}`)).toBe(content);
    });
    it('are all there is', () => {
      const names = readdirSync(new URL(`${folder}/`, root)).filter((name) => name.startsWith('coffer.dev_'));
      expect(names.sort()).toEqual([...crdFiles().keys()].sort());
    });
  },
);

describe('what is made from the sources', () => {
  it.each([...filesOfTheSources()])('%s', (path, content) => {
    expect(read(path)).toBe(content);
  });
});

describe('the version', () => {
  it.each(['coffer-operator', 'coffer-tenant'])("of %s is the package's", (chart) => {
    const { version, appVersion } = parse(chartFile(chart, 'Chart.yaml')) as { version: string; appVersion: string };
    expect([version, appVersion]).toEqual([metadata.version, metadata.version]);
  });
});

describe('the bundle for OLM', () => {
  const bundle = parse(read('deploy/olm/manifests/coffer-operator.clusterserviceversion.yaml')) as {
    spec: {
      customresourcedefinitions: { owned: { name: string }[] };
      install: { spec: { clusterPermissions: [{ rules: unknown }]; permissions: [{ rules: unknown }] } };
    };
  };
  it('owns every CRD', () => {
    const names = bundle.spec.customresourcedefinitions.owned.map(({ name }) => {
      const [plural = '', ...group] = name.split('.');
      return `${group.join('.')}_${plural}.yaml`;
    });
    expect(names.sort()).toEqual([...crdFiles().keys()].sort());
  });
  it('has the permissions of the list', () => {
    const { clusterPermissions: inCluster, permissions } = bundle.spec.install.spec;
    expect(inCluster[0].rules).toEqual([
      ...policyRules(watchedPermissions),
      ...policyRules(clusterPermissions),
    ]);
    expect(permissions[0].rules).toEqual(policyRules(ownPermissions));
  });
});
