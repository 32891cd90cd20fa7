import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { filesOfTheSources, filesOfTheChart } from './generated-files.ts';
import { helm } from './render-chart.ts';

// `npm run manifests`: writes what is made from the operator's sources, then deploy/kustomize and deploy/olm from the chart.
// `npm run crds` writes the CRDs of all of them and then does the same, but for the second half where helm is missing.
const root = new URL('../', import.meta.url);

function write(files: ReadonlyMap<string, string>): void {
  for (const [path, content] of files) {
    const file = new URL(path, root);
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, content);
    process.stdout.write(`${path}\n`);
  }
}

write(filesOfTheSources());
if (existsSync(helm)) {
  write(await filesOfTheChart());
} else {
  process.stderr.write(
    `deploy/ is left as it was: ${helm} is missing (.ci/install helm builds it; then npm run manifests)\n`,
  );
  if (!process.argv.includes('--if-helm')) process.exitCode = 1;
}
