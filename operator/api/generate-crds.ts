import { mkdirSync, writeFileSync } from 'node:fs';
import { crdFiles } from './crd-files.ts';

// `npm run crds`: writes crds/*.yaml.
const folder = new URL('../../crds/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, content] of crdFiles()) {
  writeFileSync(new URL(name, folder), content);
  process.stdout.write(`crds/${name} ${Buffer.byteLength(content)} bytes\n`);
}
