import { mkdirSync, writeFileSync } from 'node:fs';
import { crdFiles } from './crd.ts';
import { resourceGuide } from './resource-guide.ts';

// `npm run crds`: writes crds/*.yaml, the copies that a chart, kustomize and OLM need inside their own folder (none of them reads
// outside it; test/charts holds them equal), and docs/guides/resources.md.
const root = new URL('../../', import.meta.url);
const folders = ['crds/', 'charts/coffer-operator/files/crds/', 'deploy/kustomize/crds/', 'deploy/olm/manifests/'];
for (const folder of folders) mkdirSync(new URL(folder, root), { recursive: true });
for (const [name, content] of crdFiles()) {
  for (const folder of folders) writeFileSync(new URL(`${folder}${name}`, root), content);
  process.stdout.write(`crds/${name} ${Buffer.byteLength(content)} bytes\n`);
}
writeFileSync(new URL('docs/guides/resources.md', root), resourceGuide());
