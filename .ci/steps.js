// The table of the gate: its steps, the areas of the repository that select them, and the parts of the nightly run.
// `.ci/run`, `.ci/nightly` and the workflows read it, so that nothing is listed twice.

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {'compute' | 'wait'} lane Steps of one lane run one after the other, beside those of the other lane.
 * @property {number} minutes The budget. It has room for a cold cache and a busy machine.
 * @property {string} command A shell command, run in the checkout.
 * @property {true} [tests] The command is vitest, and each of its tests counts.
 * @property {true} [always] The step is cheap and runs whatever changed.
 * @property {string} [needs] The step that must pass before. It stands before this one in the table.
 * @property {string} [job] Steps with the same job share a machine in the workflows; a step without one has its own.
 */

/**
 * @param {string} name
 * @param {number} minutes
 * @returns {Step}
 */
const check = (name, minutes, command = `npm run --silent ${name}`) => ({
  name,
  lane: 'compute',
  minutes,
  command,
  always: true,
  job: 'checks',
});

/**
 * @param {string} name
 * @param {Step['lane']} lane
 * @param {number} minutes
 * @returns {Step}
 */
const tier = (name, lane, minutes) => ({ name, lane, minutes, command: `bash .ci/tier ${name}`, tests: true });

/**
 * The compute lane has the steps that keep a processor busy. The wait lane has those that mostly wait: for containers, Keycloak, a
 * kubelet, a browser. Steps that need the same engine or the same ports are in the same lane. The tier `cluster` has deadlines of seconds,
 * so that it comes last, when the checks and unit tests, which take every processor, are done. Both lanes have the same weight: with less,
 * the deadlines of the compute lane break when something else runs on the machine.
 * @type {readonly Step[]}
 */
export const steps = [
  check('typecheck', 5),
  check('lint', 5),
  check('format', 5, 'npm run --silent format:check'),
  check('arrows', 1),
  check('workflows', 5, 'bash .ci/install actionlint && "${COFFER_TOOLS:-$HOME/.cache/coffer-tools}/bin/actionlint"'),
  // Shared workers could hide that a test needs what another one left: the files are shuffled, by `.ci/soak draws` in another order each
  // time. Properties, faults and operations have the numbers that their tests were written for, of which `npm test` makes a part.
  {
    name: 'unit',
    lane: 'compute',
    minutes: 10,
    command:
      'COFFER_FUZZ_RUNS=100 npm test --silent -- --project unit --sequence.shuffle --sequence.seed="$COFFER_ORDER"',
    tests: true,
    always: true,
  },
  {
    name: 'process',
    lane: 'compute',
    minutes: 45,
    command:
      'COFFER_FUZZ_RUNS=100 COFFER_SERVER_THREADS=2 COFFER_OPERATIONS=10000 COFFER_FAULTS=60 COFFER_CLIENT_KILLS=8 COFFER_KILLS=3 COFFER_EVENTS=1500 npm test --silent -- --project process --sequence.shuffle.files --sequence.seed="$COFFER_ORDER"',
    tests: true,
    always: true,
  },
  tier('power-cut', 'compute', 15),
  { ...tier('postgres', 'compute', 30), command: 'COFFER_SWEEP=30 bash .ci/tier postgres' },
  {
    name: 'kills',
    lane: 'compute',
    minutes: 12,
    command: 'COFFER_KILLS=12 COFFER_SERVER_THREADS=2 npm test --silent -- test/crash',
    tests: true,
  },
  tier('s3-blobs', 'compute', 12),
  tier('minio-client', 'compute', 25),
  tier('boto3', 'compute', 10),
  tier('select', 'compute', 10),
  tier('installed', 'compute', 20),
  tier('clients', 'compute', 20),
  { name: 'memory', lane: 'compute', minutes: 8, command: 'npm run --silent bench:memory -- --size 256MiB' },
  { name: 'image', lane: 'wait', minutes: 12, command: 'bash .ci/image' },
  { ...tier('container', 'wait', 8), needs: 'image' },
  tier('keycloak', 'wait', 25),
  tier('api-server', 'wait', 25),
  tier('browser', 'wait', 30),
  tier('ldap', 'wait', 10),
  tier('brokers', 'wait', 10),
  { ...tier('disk', 'wait', 30), command: 'COFFER_SWEEP=80 bash .ci/tier disk' },
  tier('fleet', 'wait', 8),
  {
    ...tier('cluster', 'wait', 45),
    // Rollouts of minutes are left to the night.
    command: 'bash .ci/tier cluster --exclude "**/*.long.test.ts"',
    needs: 'image',
  },
];

const everything = steps.map(({ name }) => name);
const server = everything.filter((name) => name !== 'fleet');
const kubernetes = ['api-server', 'fleet', 'keycloak', 'memory', 'image', 'container', 'cluster'];

/**
 * The steps that a change below a path needs, by the first row that the path begins with. A path without a row needs every step.
 * Steps that always run are not named. A test follows the imports of each tier and finds what a row has left out.
 * @type {readonly (readonly [path: string, steps: readonly string[]])[]}
 */
export const areas = [
  ['.ci/last-full', []],
  ['.ci/', everything],
  ['protocol/', everything],
  ['platform/', everything],
  ['bin/', everything],
  ['package.json', everything],
  ['package-lock.json', everything],
  ['.npmrc', everything],
  ['tsconfig.json', everything],
  ['vitest.config.ts', everything],
  ['docs/', []],
  ['LICENSE', []],
  ['.github/', []],
  ['.gitignore', []],
  ['.oxlintrc.json', []],
  ['.prettierrc.json', []],
  ['.prettierignore', []],
  ['.editorconfig', []],
  ['.devcontainer/', []],
  ['server/', server],
  ['console/', server],
  ['keysvc/', everything],
  ['operator/', [...kubernetes, 'postgres']],
  ['crds/', kubernetes],
  ['charts/', kubernetes],
  ['deploy/', kubernetes],
  ['cli/', ['minio-client', 'installed', 'ldap', 'keycloak', 'memory', 'image', 'container', 'cluster']],
  ['examples/', [...kubernetes, 'browser']],
  ['Containerfile', ['image', 'container', 'cluster']],
  ['.dockerignore', ['image', 'container', 'cluster']],
  ['bench/generator/', ['memory', 'browser']],
  ['bench/', ['memory']],
  // Each server that a test starts has them.
  ['test/support/store/check-places.ts', everything],
  ['test/support/store/crossings.ts', everything],
  ['test/support/store/', ['kills', 'power-cut', 'postgres', 's3-blobs', 'brokers', 'minio-client']],
  ['test/support/s3/', ['s3-blobs']],
  ['test/support/operator/', ['fleet', 'api-server']],
  ['test/support/kubernetes/', ['fleet']],
  ['test/support/cluster/', ['cluster', 'api-server']],
  ['test/support/', everything],
  ['test/soak/', ['kills', 'power-cut', 'disk', 'postgres']],
  ['test/crash/', ['kills', 'power-cut', 'disk', 'postgres']],
  ['test/power-cut/', ['power-cut']],
  ['test/disk/', ['disk', 'postgres']],
  ['test/vault/', ['cluster']],
  ['test/postgres/', ['postgres']],
  ['test/replicas/', ['postgres']],
  ['test/linearizability/', ['postgres']],
  ['test/store-tool/', ['postgres', 's3-blobs']],
  ['test/sealed-digests/', ['postgres']],
  ['test/s3-blobs/', ['s3-blobs']],
  ['test/boto3/', ['boto3', 'keycloak', 'cluster']],
  ['test/select/', ['select']],
  ['test/installed/', ['installed']],
  ['test/clients/', ['clients']],
  ['test/ldap/', ['ldap']],
  ['test/brokers/', ['brokers']],
  ['test/events/', ['minio-client', 'postgres']],
  ['test/replication/', ['minio-client', 'postgres']],
  ['test/attacker/', []],
  ['test/sites/', []],
  ['test/places/', []],
  ['test/tiering/', []],
  ['test/browser/', ['browser', 'keycloak']],
  ['test/minio-client/stock-mc.ts', ['minio-client', 'postgres']],
  ['test/minio-client/', ['minio-client']],
  ['test/cli/', ['minio-client', 'installed']],
  ['test/key-service/', ['kills', 'minio-client', 'boto3']],
  ['test/keycloak/', ['keycloak', 'cluster']],
  ['test/api-server/', ['api-server']],
  ['test/operator/', ['fleet']],
  ['test/fleet/', ['fleet']],
  ['test/container/', ['container', 'cluster']],
  ['test/cluster/', ['cluster', 'api-server']],
  ...[
    'arrows',
    'charts',
    'copies',
    'damage',
    'gate',
    'guides',
    'keystores',
    'killed-client',
    'mutations',
    'programs',
    'quickstart',
    's3-compat',
    'sealed-objects',
    'server-process',
    'sts',
    'support/s3-api',
    'upgrades',
    'versions',
  ].map((folder) => /** @type {const} */ ([`test/${folder}/`, []])),
];

/**
 * The long forms of what the gate tries briefly, each a part of `.ci/soak`. Two quiet cores need about two hours.
 * @type {readonly Step[]}
 */
export const nightly = /** @type {const} */ ([
  ['draws', 60],
  ['cluster', 75],
  ['image', 30],
  ['memory', 20],
  ['kills 200', 40],
  ['power-cut', 60],
  ['sweep', 240],
  ['linearizability 200000', 30],
  ['compaction 200000', 30],
  ['damage', 15],
  ['stores 60', 90],
  ['digests', 15],
  ['versions', 20],
  ['events 20000', 30],
  ['failovers 10', 30],
  ['client', 20],
  ['writers', 40],
  ['replication', 90],
  ['select 2000', 40],
  ['vault', 40],
  ['openbao', 10],
  ['console-jobs', 20],
  ['console-volume 200000 2000 2048', 40],
  ['fuzz 5000', 30],
]).map(([part, minutes]) => ({
  name: part.split(' ')[0] ?? part,
  lane: 'wait',
  minutes,
  command: `bash .ci/soak ${part}`,
}));
