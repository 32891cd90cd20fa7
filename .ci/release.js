// The release behind `.ci/release`. It needs Node alone, as the gate does.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keptPackages } from './container/packages.js';

const usage = `usage: .ci/release version VERSION      writes the version where it is named, commits, and tags
       .ci/release build [--image]      makes the files of the release in dist/release, with the images if asked
       .ci/release --dry-run VERSION [--image]   does both in a clone, and changes nothing here`;

/** Files that repeat the version of package.json. `npm run manifests` writes those of deploy/; a test compares the charts. */
const versionLines = /** @type {const} */ ([
  ['charts/coffer-operator/Chart.yaml', /^(version: |appVersion: )("?)[\d.]+/gm],
  ['charts/coffer-tenant/Chart.yaml', /^(version: |appVersion: )("?)[\d.]+/gm],
  ['Containerfile', /^(ARG VERSION=)()[\d.]+/gm],
  ['docs/guides/image.md', /(REGISTRY\/coffer:)()[\d.]+\d/g],
  ['docs/guides/testcontainers.md', /(REGISTRY\/coffer:)()[\d.]+\d/g],
  ['docs/guides/kubernetes.md', /(\?ref=v)()[\d.]+\d/g],
]);
const output = 'dist/release';
const tools = process.env.COFFER_TOOLS ?? join(homedir(), '.cache/coffer-tools');

/** @param {string} file @param {string[]} args */
const run = (file, args, cwd = '.') => execFileSync(file, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
/** @param {string} file @param {string[]} args */
const read = (file, args) => execFileSync(file, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
const packageJson = () => JSON.parse(readFileSync('package.json', 'utf8'));

/** Writes the version into every file that names it, makes one commit of them, and tags it. Nothing is pushed. */
function setVersion(/** @type {string} */ version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`the version ${version} is not MAJOR.MINOR.PATCH`);
  if (read('git', ['status', '--porcelain']) !== '') throw new Error('the working tree has changes: commit them first');
  if (read('git', ['tag', '--list', `v${version}`]) !== '') throw new Error(`the tag v${version} exists`);
  run('npm', ['version', '--no-git-tag-version', '--allow-same-version', '--ignore-scripts', version]);
  for (const [path, lines] of versionLines) {
    const text = readFileSync(path, 'utf8');
    if (text.search(lines) === -1) throw new Error(`${path} does not name a version where .ci/release.js expects it`);
    writeFileSync(path, text.replace(lines, `$1$2${version}`));
  }
  const changes = readFileSync('CHANGELOG.md', 'utf8');
  if (!changes.includes('\n## Unreleased\n')) throw new Error('CHANGELOG.md has no section "Unreleased"');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync('CHANGELOG.md', changes.replace('\n## Unreleased\n', `\n## Unreleased\n\n## ${version}, ${date}\n`));
  run('bash', ['.ci/install', 'helm']);
  run('npm', ['run', '--silent', 'manifests']);
  run('git', ['commit', '--quiet', '--all', '--message', `release: ${version}`]);
  run('git', ['tag', '--annotate', `v${version}`, '--message', `Coffer ${version}`]);
}

/** Makes the charts, the npm package, the SBOM, the images if asked, and the checksums of all of them. */
async function build(/** @type {boolean} */ image) {
  const { version } = packageJson();
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  run('bash', ['.ci/install', 'helm']);
  for (const chart of readdirSync('charts'))
    run(join(tools, 'kubernetes/helm'), ['package', `charts/${chart}`, '--destination', output]);
  run('npm', ['run', '--silent', 'prepare']);
  run('npm', ['run', '--silent', 'bundle']);
  await tryPackage(packPrograms());
  const components = read('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application']);
  writeFileSync(join(output, `coffer-${version}.cdx.json`), components);
  if (image) saveImages(version);
  const sums = readdirSync(output)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(output, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
}

/**
 * Packs the bundled programs with their launchers. Node strips no types below node_modules, so that sources could not run there. The
 * dependencies are those that the bundle leaves out, in the versions of the lockfile.
 */
function packPrograms() {
  const { bin, dependencies, optionalDependencies, ...rest } = packageJson();
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const kept = Object.keys(dependencies).filter((name) => [...keptPackages, '@kubernetes/client-node'].includes(name));
  const { name, version, description, license, type, engines } = rest;
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    engines,
    private: true,
    bin,
    dependencies: Object.fromEntries(kept.map((name) => [name, packages[`node_modules/${name}`].version])),
    optionalDependencies,
  };
  const folder = mkdtempSync(join(tmpdir(), 'coffer-package-'));
  try {
    for (const path of [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'bin/node-26.js',
      'bin/allocator.js',
      'dist/console',
      'dist/programs',
    ])
      cpSync(path, join(folder, path), { recursive: true });
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    // The bundled programs look for it one folder above them, as the sources do.
    cpSync(join(folder, 'package.json'), join(folder, 'dist/package.json'));
    for (const [program, path] of Object.entries(bin)) {
      const target = `new URL('../dist/programs/${program}.js', import.meta.url)`;
      const lines = [
        '#!/usr/bin/env node',
        "import { fileURLToPath } from 'node:url';",
        "import { runUnderNode26 } from './node-26.js';",
        `runUnderNode26(fileURLToPath(${target}), process.argv.slice(2));`,
      ];
      writeFileSync(join(folder, path), `${lines.join('\n')}\n`, { mode: 0o755 });
    }
    const [packed] = JSON.parse(
      read('npm', ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', output]),
    );
    return join(output, packed.filename);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs the package as a user does, expects its version of every program, and starts a server. */
async function tryPackage(/** @type {string} */ tarball) {
  const { bin, version } = packageJson();
  const folder = mkdtempSync(join(tmpdir(), 'coffer-install-'));
  try {
    run('npm', [
      'install',
      '--silent',
      '--no-save',
      '--ignore-scripts',
      '--prefix',
      folder,
      join(process.cwd(), tarball),
    ]);
    for (const program of Object.keys(bin)) {
      const said = read(join(folder, 'node_modules/.bin', program), ['--version']);
      if (!said.includes(version)) throw new Error(`${program} --version prints ${said.trim()}, not ${version}`);
    }
    expectLicences(join(folder, 'node_modules', packageJson().name));
    const args = [join(folder, 'data'), '--address', '127.0.0.1:0', '--console-address', '127.0.0.1:0'];
    const server = spawn(join(folder, 'node_modules/.bin/coffer-server'), args, {
      env: { ...process.env, SVC_ROOT_USER: 'release', SVC_ROOT_PASSWORD: 'release-password' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const deadline = setTimeout(() => server.kill('SIGKILL'), 60_000);
    let log = '';
    for await (const text of server.stdout) {
      log += text;
      if (log.includes('"event":"ready"')) server.kill('SIGTERM');
    }
    clearTimeout(deadline);
    if (!log.includes('"event":"ready"')) throw new Error(`the installed coffer-server is not ready:\n${log}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Expects the licences of all that is bundled, as they demand: those of other dependencies come with their packages. */
function expectLicences(/** @type {string} */ folder) {
  const { dependencies } = packageJson();
  const kept = Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies);
  const texts = ['programs', 'console'].map((part) =>
    readFileSync(join(folder, 'dist', part, 'THIRD-PARTY-LICENSES.md'), 'utf8'),
  );
  const names = new Set(texts.flatMap((text) => [...text.matchAll(/^(?:##|-) (\S+) /gm)].map(([, name]) => name)));
  const wanting = Object.keys(dependencies).filter((name) => !names.has(name) && !kept.includes(name));
  if (wanting.length > 0) throw new Error(`the package has no licence of ${wanting.join(', ')}`);
}

/** Builds the image for both processors and saves each as a file that `docker load` reads. */
function saveImages(/** @type {string} */ version) {
  for (const arch of ['amd64', 'arm64']) run('bash', ['.ci/image', arch]);
  const host = read('bash', ['.ci/docker-engine', 'up']).trim();
  const native = process.arch === 'arm64' ? 'arm64' : 'amd64';
  for (const arch of ['amd64', 'arm64']) {
    const built = arch === native ? 'localhost/coffer:dev' : `localhost/coffer:dev-${arch}`;
    const file = join(output, `coffer-${version}-linux-${arch}.tar.gz`);
    const script = 'set -o pipefail; docker tag "$1" "$2" && docker save "$2" | gzip --no-name >"$3"';
    execFileSync('bash', ['-c', script, 'bash', built, `coffer:${version}-${arch}`, file], {
      env: { ...process.env, DOCKER_HOST: host },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  }
}

/** Does all of it in a clone of this commit. */
function dryRun(/** @type {string} */ version, /** @type {boolean} */ image) {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-release-'));
  try {
    run('git', ['clone', '--quiet', '.', folder]);
    run('npm', ['ci', '--silent'], folder);
    run('bash', ['.ci/release', 'version', version], folder);
    run('git', ['show', '--stat', '--format=%h %s (%D)'], folder);
    run('bash', ['.ci/release', 'build', ...(image ? ['--image'] : [])], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, image: { type: 'boolean' }, 'dry-run': { type: 'string' } },
});
const [command, version] = positionals;
if (values.help) process.stdout.write(`${usage}\n`);
else if (values['dry-run'] !== undefined) dryRun(values['dry-run'], values.image ?? false);
else if (command === 'version' && version !== undefined) setVersion(version);
else if (command === 'build') await build(values.image ?? false);
else {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
}
