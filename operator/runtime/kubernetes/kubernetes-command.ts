import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { parseAddress, type ListenAddress } from '../../../platform/http/listen.ts';
import { createLogger, logWarnings, logLevels, type LogLevel } from '../../../platform/output/logger.ts';
import { onShutdown } from '../../../platform/process/shutdown.ts';
import { parseUpgradeWindow } from '../../reconcile/upgrade-window.ts';
import { type UpgradeWindow } from '../../reconcile/rollout-limit.ts';
import { imagesLike, podSecurityLevels, type PodBounds } from './pod-bounds.ts';
import { certificateTimes } from './certificates/certificate-times.ts';

interface CommandOptions {
  readonly namespace?: readonly string[];
  readonly kubeconfig?: string;
  readonly leaderElection: boolean;
  readonly healthAddress?: ListenAddress;
  readonly metricsAddress?: ListenAddress;
  readonly maxConcurrentRollouts: number;
  readonly image: string;
  readonly upgradeWindow?: UpgradeWindow;
  readonly podSecurity: PodBounds['podSecurity'];
  readonly allowedServiceAccount?: readonly string[];
  readonly allowedImage?: readonly string[];
  readonly allowedProviderHost?: readonly string[];
  readonly logLevel: LogLevel;
}

/** Milliseconds in which reconciles under way must end, within the 30 s that Kubernetes grants a pod by default. */
const shutdownMs = 25_000;

/** Makes the command `coffer-operator kubernetes`. Every option has an environment variable. */
export function kubernetesCommand(environment: Readonly<Record<string, string | undefined>>): Command {
  return new Command('kubernetes')
    .description(
      'makes a Kubernetes cluster run what its Tenant, IdentityProvider and KMSConfig resources describe, and hold what its Bucket, Policy, PolicyBinding, User and AccessKey resources do',
    )
    .addOption(
      new Option('--namespace <name>', 'namespace to look after, once for each; all without it')
        .env('COFFER_OPERATOR_NAMESPACES')
        .argParser(collectNames),
    )
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'how to reach the cluster from outside; as its service account in a pod without it',
      ).env('COFFER_OPERATOR_KUBECONFIG'),
    )
    .addOption(
      new Option('--leader-election [boolean]', 'several run, and the one that holds the Lease coffer-operator acts')
        .env('COFFER_OPERATOR_LEADER_ELECTION')
        .default(false)
        .preset('true')
        .argParser(boolean),
    )
    .addOption(
      new Option('--health-address <address>', 'HOST:PORT for /healthz and /readyz; none without it')
        .env('COFFER_OPERATOR_HEALTH_ADDRESS')
        .argParser(address),
    )
    .addOption(
      new Option('--metrics-address <address>', 'HOST:PORT for /metrics; none without it')
        .env('COFFER_OPERATOR_METRICS_ADDRESS')
        .argParser(address),
    )
    .addOption(
      new Option('--max-concurrent-rollouts <number>', 'workloads that may restart at the same time')
        .env('COFFER_OPERATOR_MAX_CONCURRENT_ROLLOUTS')
        .default(5)
        .argParser(positive),
    )
    .addOption(
      new Option(
        '--image <image>',
        'image of servers and key services that name none, and of checks of identity providers',
      )
        .env('COFFER_OPERATOR_IMAGE')
        .default(`coffer:${manifest.version}`),
    )
    .addOption(
      new Option(
        '--upgrade-window <days and hours>',
        'when servers and key services that name no image begin to be upgraded, in UTC, as "Sat,Sun 02:00-05:00"; at any time without it',
      )
        .env('COFFER_OPERATOR_UPGRADE_WINDOW')
        .argParser(window),
    )
    .addOption(
      new Option('--pod-security <level>', 'Pod Security Standard that the security contexts of resources must keep')
        .env('COFFER_OPERATOR_POD_SECURITY')
        .choices(podSecurityLevels)
        .default('restricted'),
    )
    .addOption(
      new Option(
        '--allowed-service-account <pattern>',
        'service account that pods may have, once for each; none without it',
      )
        .env('COFFER_OPERATOR_ALLOWED_SERVICE_ACCOUNTS')
        .argParser(collectNames),
    )
    .addOption(
      new Option(
        '--allowed-image <pattern>',
        'image that resources may name, once for each; any tag or digest of the repository of --image without it',
      )
        .env('COFFER_OPERATOR_ALLOWED_IMAGES')
        .argParser(collectNames),
    )
    .addOption(
      new Option(
        '--allowed-provider-host <pattern>',
        'host that identity providers may be at, as idp.example.com or *.example.com, once for each; any without it',
      )
        .env('COFFER_OPERATOR_ALLOWED_PROVIDER_HOSTS')
        .argParser(collectNames),
    )
    .addOption(
      new Option('--log-level <level>', 'least important lines to write')
        .env('COFFER_OPERATOR_LOG_LEVEL')
        .choices(logLevels)
        .default('info'),
    )
    .action((options: CommandOptions) => run(options, environment));
}

async function run(options: CommandOptions, environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const log = createLogger({ name: 'coffer-operator', level: options.logLevel });
  logWarnings(log);
  const connection = await connect(options.kubeconfig, environment);
  const operatorNamespace =
    options.kubeconfig === undefined ? (environment['POD_NAMESPACE'] ?? connection.namespace) : undefined;
  const { startKubernetes } = await import('./start-kubernetes.ts');
  const operator = await startKubernetes({
    connection,
    // An empty variable counts as unset.
    namespaces: options.namespace?.length === 0 ? undefined : options.namespace,
    leaderElection: options.leaderElection
      ? { namespace: operatorNamespace ?? connection.namespace ?? 'default' }
      : undefined,
    identity: environment['POD_NAME'] ?? `${hostname()}-${process.pid}`,
    operatorNamespace,
    addresses: { health: options.healthAddress, metrics: options.metricsAddress },
    maxConcurrentRollouts: options.maxConcurrentRollouts,
    image: options.image,
    upgradeWindow: options.upgradeWindow,
    bounds: {
      podSecurity: options.podSecurity,
      serviceAccounts: options.allowedServiceAccount ?? [],
      images: options.allowedImage?.length ? options.allowedImage : imagesLike(options.image),
    },
    providerHosts: options.allowedProviderHost,
    certificateTimes: certificateTimes(environment),
    log,
    onStoppedLeading: (message) => {
      log.fatal(`no longer the leader: ${message}`);
      // End at once and without another write: another process may act already.
      process.exit(1);
    },
  });
  for (const bound of operator.addresses) log.info(`listening on ${bound}`);
  onShutdown({ log, timeoutMs: shutdownMs }, () => operator.stop());
}

/** Imports the kubeconfig code lazily, since it costs 75 MB. */
async function connect(kubeconfig: string | undefined, environment: Readonly<Record<string, string | undefined>>) {
  if (kubeconfig === undefined) return (await import('../../kube-client/connection.ts')).inCluster({ environment });
  return (await import('../../kube-client/connection.ts')).fromKubeconfig({ file: kubeconfig });
}

/** Collects names: one for each option of the command line, or several with commas between them in the environment. */
function collectNames(text: string, before: readonly string[] | undefined): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  // An empty variable counts as unset. A list of separators is a mistake, which must not admit everything.
  if (names.length === 0 && text.trim() !== '') throw new InvalidArgumentError('it names nothing: leave it out.');
  return [...new Set([...(before ?? []), ...names])];
}

function address(text: string): ListenAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** An empty variable counts as unset. */
function window(text: string): UpgradeWindow | undefined {
  try {
    return text.trim() === '' ? undefined : parseUpgradeWindow(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function boolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('true or false is needed.');
}

function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('a whole number of 1 or more is needed.');
  return number;
}
