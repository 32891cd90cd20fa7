import { mkdirSync, writeFileSync } from 'node:fs';
import { crdFiles } from './crd-files.ts';
import { resourceGuide } from './resource-guide.ts';

// `npm run crds`: writes crds/*.yaml and docs/guides/resources.md.
const folder = new URL('../../crds/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, content] of crdFiles()) {
  writeFileSync(new URL(name, folder), content);
  process.stdout.write(`crds/${name} ${Buffer.byteLength(content)} bytes\n`);
}
writeFileSync(new URL('../../docs/guides/resources.md', import.meta.url), resourceGuide());
