// Signs the npm package in dist/npm, so that `coffer update` takes it from a web server that has this folder:
//   node .ci/client/sign.js KEY.pem        (openssl genpkey -algorithm ed25519 -out KEY.pem)
// It prints the public key for COFFER_UPDATE_KEY.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [keyFile, folder = fileURLToPath(new URL('../../dist/npm/', import.meta.url))] = process.argv.slice(2);
const key = createPrivateKey(readFileSync(keyFile));
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.startsWith('manifest.json'))
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\/+/, ''))
  .sort();
const files = paths.map((path) => {
  const bytes = readFileSync(`${folder}/${path}`);
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
});
const manifest = Buffer.from(`${JSON.stringify({ version, files }, undefined, 1)}\n`);
writeFileSync(`${folder}/manifest.json`, manifest);
writeFileSync(`${folder}/manifest.json.sig`, `${sign(undefined, manifest, key).toString('base64')}\n`);
process.stdout.write(`${createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')}\n`);
