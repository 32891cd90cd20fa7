/**
 * The import arrows of the project: which room may import which. A room is the longest prefix of a file's path named here; what is
 * not named under `server` (main, thread) composes and may import every room of the server.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  platform: ['protocol'],
  // Keys are stored, used by calls, and calls come by HTTP; commands start the server, or call one.
  'keysvc/keystores': ['platform', 'protocol'],
  'keysvc/keys': ['keysvc/keystores', 'platform', 'protocol'],
  'keysvc/config': ['keysvc/keys', 'keysvc/keystores', 'platform', 'protocol'],
  'keysvc/calls': ['keysvc/config', 'keysvc/keys', 'keysvc/keystores', 'platform', 'protocol'],
  'keysvc/http': ['keysvc/calls', 'keysvc/config', 'keysvc/keys', 'keysvc/keystores', 'platform', 'protocol'],
  'keysvc/commands': ['keysvc/http', 'keysvc/config', 'keysvc/keys', 'keysvc/keystores', 'platform', 'protocol'],
  keysvc: ['keysvc/commands', 'platform', 'protocol'],
  // The description of a workload, and what runs it.
  'operator/contract': ['platform', 'protocol'],
  'operator/api': ['operator/contract', 'platform', 'protocol'],
  'operator/kube-client': ['operator/contract', 'platform', 'protocol'],
  // What the operator renders for a key service is read by the key service's own code before a pod gets it.
  'operator/render': ['operator/api', 'operator/contract', 'keysvc/config', 'platform', 'protocol'],
  'operator/reconcile': ['operator/api', 'operator/render', 'operator/contract', 'platform', 'protocol'],
  'operator/runtime/local': [
    'operator/api',
    'operator/reconcile',
    'operator/render',
    'operator/contract',
    'platform',
    'protocol',
  ],
  'operator/runtime/kubernetes': [
    'operator/api',
    'operator/kube-client',
    'operator/reconcile',
    'operator/render',
    'operator/contract',
    'platform',
    'protocol',
  ],
  'operator/plugin': [
    'operator/api',
    'operator/kube-client',
    'operator/reconcile',
    'operator/contract',
    'operator/runtime/kubernetes',
    'platform',
    'protocol',
  ],
  operator: ['operator/api', 'operator/runtime/kubernetes', 'operator/runtime/local', 'platform', 'protocol'],
  // Commands use the S3 client and the terminal; both know aliases and errors alone.
  'cli/config': ['platform', 'protocol'],
  'cli/s3': ['cli/config', 'platform', 'protocol'],
  'cli/terminal': ['cli/s3', 'cli/config', 'platform', 'protocol'],
  'cli/commands': ['cli/terminal', 'cli/s3', 'cli/config', 'platform', 'protocol'],
  cli: ['cli/commands', 'cli/terminal', 'cli/s3', 'cli/config', 'platform', 'protocol'],
  // Bodies as chunks in reused buffers, and memory that the threads of the server share.
  'server/streams': ['platform', 'protocol'],
  'server/shared-memory': ['platform', 'protocol'],
  'server/store': ['server/streams', 'platform', 'protocol'],
  'server/cluster': ['server/store', 'server/streams', 'platform', 'protocol'],
  'server/encryption': ['server/store', 'server/streams', 'platform', 'protocol'],
  'server/objects': [
    'server/encryption',
    'server/store',
    'server/streams',
    'server/shared-memory',
    'platform',
    'protocol',
  ],
  // The queues of events, and their delivery to targets.
  'server/outbox': ['server/objects', 'server/store', 'platform', 'protocol'],
  'server/notifications': [
    'server/outbox',
    'server/objects',
    'server/encryption',
    'server/store',
    'server/shared-memory',
    'platform',
    'protocol',
  ],
  // The replication of buckets to other servers, and its remote targets.
  'server/replication': [
    'server/maintenance',
    'server/outbox',
    'server/objects',
    'server/encryption',
    'server/store',
    'server/streams',
    'platform',
    'protocol',
  ],
  // The replication of sites: what the servers of a group share, and how they find what is missing.
  'server/sites': [
    'server/administration',
    'server/auth',
    'server/federation',
    'server/replication',
    'server/objects',
    'server/encryption',
    'server/store',
    'platform',
    'protocol',
  ],
  // The tiers to which bodies move: their configurations, and their stores.
  'server/tiering': ['server/objects', 'server/encryption', 'server/store', 'server/streams', 'platform', 'protocol'],
  // What looks after the stores as a whole: verification, scrubbing, copies, snapshots.
  'server/maintenance': [
    'server/objects',
    'server/encryption',
    'server/store',
    'server/streams',
    'platform',
    'protocol',
  ],
  'server/store-tool': [
    'server/maintenance',
    'server/objects',
    'server/encryption',
    'server/store',
    'platform',
    'protocol',
  ],
  // Credentials, identities and decisions: who sends a request, and what they may do.
  'server/auth': ['server/objects', 'server/encryption', 'server/store', 'server/streams', 'platform', 'protocol'],
  // The request and the answer, as the listener and the APIs share them.
  'server/http/contract': ['server/auth', 'server/objects', 'server/streams', 'platform', 'protocol'],
  // OpenID providers and directories: their configurations, sign-ins, and whether their users still exist.
  'server/federation': ['server/auth', 'server/encryption', 'server/store', 'platform', 'protocol'],
  // The rules of users, policies, keys and archives that the admin API and the console share.
  'server/administration': [
    'server/maintenance',
    'server/observability',
    'server/federation',
    'server/auth',
    'server/objects',
    'server/encryption',
    'server/shared-memory',
    'server/store',
    'platform',
    'protocol',
  ],
  // The queries of S3 Select: pure, but for the processes that run them.
  'server/select': ['server/streams', 'platform', 'protocol'],
  'server/s3': [
    'server/select',
    'server/http/contract',
    'server/auth',
    'server/objects',
    'server/encryption',
    'platform',
    'protocol',
  ],
  // What happens and how much is stored: metrics, traces, the audit log, usage by bucket.
  'server/observability': [
    'server/http/contract',
    'server/auth',
    'server/maintenance',
    'server/outbox',
    'server/objects',
    'server/encryption',
    'server/store',
    'platform',
    'protocol',
  ],
  'server/sts': [
    'server/federation',
    'server/http/contract',
    'server/auth',
    'server/encryption',
    'platform',
    'protocol',
  ],
  'server/admin': [
    'server/administration',
    'server/maintenance',
    'server/observability',
    'server/http/contract',
    'server/auth',
    'server/federation',
    'server/objects',
    'server/encryption',
    'server/shared-memory',
    'platform',
    'protocol',
  ],
  // Measurements of the server, and what it shows of itself.
  'server/diagnostics': [
    'server/administration',
    'server/auth',
    'server/maintenance',
    'server/observability',
    'server/objects',
    'server/cluster',
    'server/store',
    'server/streams',
    'platform',
    'protocol',
  ],
  'server/console': [
    'server/administration',
    'server/maintenance',
    'server/observability',
    'server/federation',
    'server/sts',
    'server/http/contract',
    'server/auth',
    'server/objects',
    'server/encryption',
    'server/store',
    'server/streams',
    'platform',
    'protocol',
  ],
  // The pages of the console, which call its API by HTTP.
  console: ['protocol'],
  // The listener, and the requests and answers on a connection. It knows no API.
  'server/http': ['server/http/contract', 'server/streams', 'platform', 'protocol'],
  server: [
    ...[
      'http',
      's3',
      'sts',
      'admin',
      'console',
      'observability',
      'outbox',
      'notifications',
      'replication',
      'sites',
      'tiering',
      'http/contract',
      'auth',
      'administration',
      'federation',
      'maintenance',
      'objects',
      'encryption',
      'cluster',
      'select',
      'shared-memory',
      'store',
      'streams',
      'diagnostics',
    ].map((room) => `server/${room}`),
    'platform',
    'protocol',
  ],
};

/** The room of a file, by its path from the project's root; undefined outside the rooms (tests, examples, tools). */
export function roomOf(path: string): string | undefined {
  return Object.keys(rooms)
    .filter((room) => path.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** Why the file may not import the other; undefined when it may. Tests may import what they like. */
export function forbidden(from: string, to: string): string | undefined {
  const [source, target] = [roomOf(from), roomOf(to)];
  // Every program tells its version.
  if (to === 'package.json') return undefined;
  if (source === undefined || source === target || isTest(from)) return undefined;
  if (target === undefined) return `${from} imports ${to}, which is in no room`;
  const allowed = rooms[source] ?? [];
  return allowed.includes(target)
    ? undefined
    : `${from} imports ${to}: ${source} may import ${allowed.length === 0 ? 'no other room' : allowed.join(', ')}`;
}

/** Tells whether a file is a test, or what tests of several files share. */
export function isTest(path: string): boolean {
  return /\.(test|conformance)\.tsx?$|\/testing(-\w+)?\.ts$/.test(path);
}

/** The relative imports of a module, types included. */
export function relativeImports(source: string): string[] {
  const specifier = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|new Worker\(\s*new URL\(\s*)['"](\.{1,2}\/[^'"]+)['"]/g;
  return [...source.matchAll(specifier)].flatMap(([, path]) => path ?? []);
}
