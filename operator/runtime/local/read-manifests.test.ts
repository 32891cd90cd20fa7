import { describe, expect, it } from 'vitest';
import { readManifests } from './read-manifests.ts';

const read = (source: string) => readManifests('a.yaml', source, () => undefined);
const tenant = 'apiVersion: coffer.dev/v1alpha1\nkind: Tenant\nmetadata:\n  name: demo\nspec: {}\n';

describe('a manifest file', () => {
  it('holds any number of documents', () => {
    const { objects, secrets } = read(
      `${tenant}---\n${tenant.replace('demo', 'other')}---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n---\n`,
    );
    expect([objects.map(({ metadata }) => metadata.name), secrets.map(({ name }) => name)]).toEqual([
      ['demo', 'other'],
      ['s'],
    ]);
  });
  it('may be empty', () => {
    expect(read('# nothing\n')).toMatchObject({ objects: [], problems: [] });
  });
  it('that is no YAML is told with its line, and holds nothing', () => {
    const { objects, problems } = read(`${tenant}  - [\n`);
    expect(objects).toEqual([]);
    expect(problems[0]).toMatch(/^a\.yaml:\d+: /);
  });
  it('tells the line of an unknown field', () => {
    expect(read(`${tenant.replace('{}', '')}  replicas: 1\n  replicsa: 2\n`).invalid.get('Tenant/demo')).toBe(
      'a.yaml:7: spec.replicsa: unknown field',
    );
  });
  it('tells the line of the field that a rule is about', () => {
    const source = `${tenant.replace('{}', '')}  image: x\n  settings:\n    - name: SVC_REGION\n`;
    expect(read(source).invalid.get('Tenant/demo')).toMatch(/^a\.yaml:8: spec\.settings: /);
  });
  it('that another program wrote is named as unknown', () => {
    expect(read('apiVersion: v1\nkind: Service\nmetadata: {name: a}\n').problems[0]).toContain(
      'Service (v1) is not known',
    );
  });
  it('whose aliases multiply is refused, not expanded', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((key, index) => `${key}: &${key} [${Array(10).fill(`*${'abcdefg'[index]}`).join()}]`),
    ];
    expect(read(bomb.join('\n')).problems).toHaveLength(1);
  });
  it('longer than 1 MiB is refused', () => {
    expect(read(`# ${'x'.repeat(1_100_000)}`).problems[0]).toContain('longer than 1 MiB');
  });
});
