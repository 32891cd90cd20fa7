// Completes package-lock.json: `node .ci/complete-lockfile.js`, after an `npm install` that added or updated packages.
//
// A registry may lack some platform packages of a tool (a mirror that takes what was asked for once). npm then leaves them out of
// the lockfile, and `npm ci` refuses it on every machine. They are optional, for other platforms, and never fetched on this one: an
// entry with their version and platform is all that `npm ci` asks for.
import { readFileSync, writeFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];

/** `os`, `cpu` and `libc` as the package's own manifest would say, read from the parts of its name. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  const libc = name.includes('musl') ? ['musl'] : os.includes('linux') && name.includes('gnu') ? ['glibc'] : [];
  return { ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }), ...(os.length > 0 && { os }) };
}

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    const platform = platformOf(name);
    if (lock.packages[path] !== undefined || platform.os === undefined || !/^\d/.test(version)) continue;
    lock.packages[path] = { version, ...platform, ...(entry.dev === true && { dev: true }), optional: true };
    added += 1;
  }
}
const [[root, project], ...rest] = Object.entries(lock.packages);
rest.sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = { [root]: project, ...Object.fromEntries(rest) };
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} platform packages added to package-lock.json\n`);
