import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { IdentityProvider, Tenant } from '../../operator/api/object.ts';
import { ManifestFolder } from '../../operator/runtime/local/manifest-folder.ts';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import type { StateFolder } from '../../operator/runtime/local/state-folder.ts';
import { Terminal } from '../../operator/runtime/local/terminal.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { onShutdown } from '../../platform/process/shutdown.ts';
import { buildConsole, consoleIsBuilt } from '../../console/build.ts';
import { makeDemoData } from './demo-data.ts';
import {
  demoAddress,
  demoClientSecret,
  startDemo,
  tellClientSecret,
  type RunningDemo,
} from './demo-identity-provider.ts';
import { watchNpm } from './end-with-npm.ts';
import { renderSummary } from './summary.ts';

// `npm start -- [--state DIR] [--manifests DIR] [--no-demo-idp] [--programs DIR] [--verbose]`

const usage = `npm start -- [OPTIONS]
  --state DIR      data, secrets, certificates, logs and status files (default .coffer)
  --manifests DIR  Tenant, IdentityProvider, KMSConfig and Secret manifests (default examples/quickstart/manifests)
  --no-demo-idp    does not run the demonstration identity provider
  --programs DIR   runs the bundled programs of this folder (npm run bundle) instead of the sources
  --verbose        also prints the logs of the programs
`;

const startedAt = performance.now();
const terminal = new Terminal(process.stdout, () => new Date());
/** Milliseconds after which a start that is not ready says what it waits for. */
const patienceMs = 30_000;

interface Options {
  readonly state: string;
  readonly manifests: string;
  readonly demo: boolean;
  readonly programs: string | undefined;
  readonly verbose: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      state: { type: 'string', default: '.coffer' },
      manifests: { type: 'string', default: fileURLToPath(new URL('manifests', import.meta.url)) },
      'no-demo-idp': { type: 'boolean', default: false },
      programs: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  return {
    state: values.state,
    manifests: values.manifests,
    demo: !values['no-demo-idp'],
    programs: values.programs === undefined ? undefined : resolve(values.programs),
    verbose: values.verbose,
  };
}

function bundledPrograms(folder: string) {
  return { 'coffer-server': join(folder, 'coffer-server.js'), keysvc: join(folder, 'keysvc.js') };
}

async function buildMissingConsole(): Promise<void> {
  if (consoleIsBuilt()) return;
  terminal.say('building the console, once');
  await buildConsole();
}

/**
 * Makes the client secrets of the manifests' providers that have none, and starts the demonstration for the first provider that it
 * could serve. Resolves once the secrets are there; what it resolves to, once the demonstration answers.
 */
async function prepareDemo(
  state: StateFolder,
  manifests: string,
  run: boolean,
): Promise<{ readonly started: Promise<RunningDemo | undefined> }> {
  const folder = new ManifestFolder(manifests);
  await folder.read();
  for (const provider of folder.resources.identityProviders.values()) {
    if (demoAddress(provider) === undefined) continue;
    const { name, key } = provider.spec.clientSecretRef;
    const written = folder.resources.secrets.get(name)?.data[key];
    const secret = written ?? (await demoClientSecret(state, provider));
    const warn = (line: string) => terminal.childLine('demo-identity-provider', line);
    if (run) return { started: startDemo(state, provider, secret, warn) };
  }
  return { started: Promise.resolve(undefined) };
}

async function main(): Promise<void> {
  const options = readOptions();
  await buildMissingConsole();
  let demo: Promise<RunningDemo | undefined> = Promise.resolve(undefined);
  const operator = await startLocal({
    manifests: options.manifests,
    state: options.state,
    environment: process.env,
    programs: options.programs === undefined ? undefined : bundledPrograms(options.programs),
    verbose: options.verbose,
    prepare: async (state) => {
      const { started } = await prepareDemo(state, options.manifests, options.demo);
      demo = started.catch((error: unknown) => {
        terminal.issue(error instanceof Error ? error.message : String(error));
        return undefined;
      });
    },
    read: ({ identityProviders, secrets }, state) => {
      for (const provider of identityProviders.values()) {
        const { name, key } = provider.spec.clientSecretRef;
        const secret = secrets.get(name)?.data[key];
        if (options.demo && secret !== undefined && demoAddress(provider) !== undefined)
          tellClientSecret(state, secret);
      }
    },
    // The key service starts meanwhile.
    beforeChecks: () => demo.then(() => undefined),
    event: (event) => terminal.event(event),
    issue: (message) => terminal.issue(message),
    childLine: (workload, line) => terminal.childLine(workload, line),
  });
  const askForStop = onShutdown(
    { log: createLogger({ name: 'npm start', level: 'warn' }), timeoutMs: 60_000 },
    async (reason) => {
      terminal.say(`stopping (${reason})`);
      await operator.stop();
      await (await demo)?.stop();
      terminal.say('stopped; data stay in the state folder');
    },
  );
  watchNpm(askForStop);
  const [tenant] = operator.resources().tenants.values();
  if (tenant === undefined) {
    terminal.issue(`there is no Tenant in ${options.manifests}: write one, and it is started`);
    return;
  }
  await untilServing(operator, tenant);
  const summary = await summarise(operator, tenant, await demo, options);
  process.stdout.write(renderSummary(summary));
  // A console with a certificate of the operator's own authority is left as it is.
  if (summary.demo === undefined || !summary.console.startsWith('http://')) return;
  const { secret } = await operator.rootCredentials(tenant);
  const { rootUser = '', rootPassword = '' } = secret.data;
  await makeDemoData({ console: summary.console, rootUser, rootPassword }).catch((error: unknown) => {
    terminal.issue(
      `the bucket of the demonstration was not made: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
}

/** Resolves when the tenant serves and its providers are checked. */
function untilServing(operator: LocalOperator, { metadata, spec }: Tenant): Promise<void> {
  const ref = { kind: 'Tenant', name: metadata.name } as const;
  const keys = spec.kmsConfigRef === undefined ? [] : [{ kind: 'KMSConfig', name: spec.kmsConfigRef.name } as const];
  return new Promise((resolve) => {
    const slow = setInterval(() => {
      // The server starts after its key service, so that its own condition says less.
      const reasons = [...keys, ref].flatMap((each) => {
        const condition = operator.status(each)?.conditions.find(({ status }) => status === 'False');
        return condition === undefined ? [] : [`${each.kind}/${each.name}: ${condition.message}`];
      });
      terminal.say(`not ready yet: ${reasons[0] ?? 'see the lines above'}`);
    }, patienceMs);
    const look = () => {
      const status = operator.status(ref);
      const identity = status?.conditions.find(({ type }) => type === 'IdentityReady')?.status ?? 'True';
      if (status?.servers?.startsWith('1/') !== true || identity === 'Unknown') return;
      clearInterval(slow);
      resolve();
    };
    operator.onStatus(look);
    look();
  });
}

async function summarise(operator: LocalOperator, tenant: Tenant, demo: RunningDemo | undefined, options: Options) {
  const { name } = tenant.metadata;
  const status = operator.status({ kind: 'Tenant', name });
  const kms = tenant.spec.kmsConfigRef?.name;
  const keyService =
    kms === undefined ? undefined : operator.status({ kind: 'KMSConfig', name: kms })?.addresses?.['api'];
  const root = await operator.rootCredentials(tenant);
  const identity = status?.conditions.find(({ type }) => type === 'IdentityReady');
  const scheme = tenant.spec.tls === undefined ? 'http' : 'https';
  return {
    tenant: name,
    seconds: (performance.now() - startedAt) / 1000,
    s3: `${scheme}://${status?.addresses?.['s3'] ?? ''}`,
    console: `${scheme}://${status?.addresses?.['console'] ?? ''}`,
    keyService: keyService === undefined ? undefined : `https://${keyService}`,
    rootUser: root.secret.data['rootUser'] ?? '',
    passwordAt: root.passwordFile === undefined ? root.passwordAt : here(root.passwordFile),
    passwordFile: root.passwordFile === undefined ? undefined : here(root.passwordFile),
    demo,
    button: buttonOf(operator.resources().identityProviders, tenant),
    identityError: identity?.status === 'False' ? identity.message : undefined,
    manifests: here(options.manifests),
    state: here(options.state),
  };
}

/** As one would type it here, unless that is a climb. */
function here(path: string): string {
  const short = relative(process.cwd(), path) || '.';
  return short.startsWith('..') ? resolve(path) : short;
}

function buttonOf(providers: ReadonlyMap<string, IdentityProvider>, { spec }: Tenant): string | undefined {
  const name = spec.identityProviders?.[0]?.name;
  if (name === undefined) return undefined;
  return providers.get(name)?.spec.displayName ?? `Log in with ${name}`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`npm start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
