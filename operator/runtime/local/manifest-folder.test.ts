import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManifestFolder } from './manifest-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-manifests-'));
  mkdirSync(join(folder, 'manifests'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, content: string) => writeFileSync(join(folder, 'manifests', name), content);
const tenant = (name: string, spec = '{}') =>
  `apiVersion: coffer.dev/v1alpha1\nkind: Tenant\nmetadata:\n  name: ${name}\nspec: ${spec}\n---\n`;
const names = (manifests: ManifestFolder) => [...manifests.resources.tenants.keys()];

async function read(): Promise<ManifestFolder> {
  const manifests = new ManifestFolder(join(folder, 'manifests'));
  await manifests.read();
  return manifests;
}

describe('a folder of manifests', () => {
  it('is read, but for what is no manifest', async () => {
    write('a.yaml', tenant('a'));
    write('b.yml', tenant('b'));
    write('.c.yaml.swp', 'x');
    write('d.yaml~', 'x');
    write('.hidden.yaml', tenant('hidden'));
    expect(names(await read())).toEqual(['a', 'b']);
  });
  it('keeps the objects of a file whose YAML broke, and marks them', async () => {
    write('a.yaml', tenant('a'));
    const manifests = await read();
    write('a.yaml', `${tenant('a')}  [`);
    await manifests.read();
    expect(names(manifests)).toEqual(['a']);
    expect(manifests.resources.invalid.get('Tenant/a')).toMatch(/^a\.yaml:\d+/);
    expect(manifests.problems).toHaveLength(1);
  });
  it('keeps the last good version of an object that is refused, and takes the others', async () => {
    write('a.yaml', tenant('a', '{image: good}') + tenant('b'));
    const manifests = await read();
    write('a.yaml', tenant('a', '{image: 7}') + tenant('b', '{image: new}'));
    await manifests.read();
    const images = [...manifests.resources.tenants].map(([name, { spec }]) => `${name} ${spec.image}`);
    expect(new Set(images)).toEqual(new Set(['a good', 'b new']));
    expect([...manifests.resources.invalid.keys()]).toEqual(['Tenant/a']);
  });
  it('applies the rules on changes against the last good version', async () => {
    write('a.yaml', tenant('a', '{kmsConfigRef: {name: keys}}'));
    const manifests = await read();
    write('a.yaml', tenant('a'));
    await manifests.read();
    expect(manifests.resources.invalid.get('Tenant/a')).toContain('kmsConfigRef cannot be removed');
    expect(manifests.resources.tenants.get('a')?.spec.kmsConfigRef).toBeDefined();
  });
  it('forgets what is deleted', async () => {
    write('a.yaml', tenant('a'));
    const manifests = await read();
    rmSync(join(folder, 'manifests/a.yaml'));
    await manifests.read();
    expect(names(manifests)).toEqual([]);
  });
  it('keeps a KMSConfig that is deleted until it is released: its keys may be in use', async () => {
    const spec = '{keystore: {files: {}}, defaultKey: first}';
    write('k.yaml', `apiVersion: coffer.dev/v1alpha1\nkind: KMSConfig\nmetadata: {name: keys}\nspec: ${spec}\n`);
    const manifests = await read();
    rmSync(join(folder, 'manifests/k.yaml'));
    await manifests.read();
    expect([[...manifests.resources.kmsConfigs.keys()], [...manifests.resources.deleting]]).toEqual([
      ['keys'],
      ['KMSConfig/keys'],
    ]);
    manifests.release('KMSConfig/keys');
    await manifests.read();
    expect([...manifests.resources.kmsConfigs.keys()]).toEqual([]);
  });
  it('tells of an object that is written twice', async () => {
    write('a.yaml', tenant('a', '{image: first}'));
    write('b.yaml', tenant('a', '{image: second}'));
    const manifests = await read();
    expect(manifests.resources.tenants.get('a')?.spec.image).toBe('first');
    expect(manifests.problems).toEqual(['b.yaml: Tenant/a is in a.yaml too; the one in a.yaml counts']);
  });
  it('lets a Secret manifest win over a kept secret', async () => {
    mkdirSync(join(folder, 'secrets/s'), { recursive: true });
    writeFileSync(join(folder, 'secrets/s/key'), 'kept\r\n\n');
    const manifests = new ManifestFolder(join(folder, 'manifests'), [], join(folder, 'secrets'));
    await manifests.read();
    expect(manifests.resources.secrets.get('s')?.data).toEqual({ key: 'kept' });
    write('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: written}\n');
    await manifests.read();
    expect(manifests.resources.secrets.get('s')?.data).toEqual({ key: 'written' });
  });
});
