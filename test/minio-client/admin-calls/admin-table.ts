import { routes } from '../../../server/admin/admin-handler.ts';
import { absentFeatureRoutes } from '../../../server/admin/absent-features.ts';
import type { Client } from './differences.ts';
import type { Result } from './walk-clients.ts';

interface OfferedCall {
  /** `GET info`. */
  readonly name: string;
  /** The calls of the clients that made it. */
  readonly by: ReadonlyMap<Client, string>;
}

/** A path of MinIO's API. Those of Coffer alone have their own client; the servers of sites call each other. */
const isOfMinio = (path: RegExp) => !/coffer|peer/.test(path.source);

/** Commands that go on for ever. The tests of the service and of the support run them. */
const streams: Readonly<Record<string, string>> = {
  'GET trace': 'admin trace',
  'GET log': 'admin logs',
  'GET metrics': 'support top net',
};

/** Returns the calls of MinIO that the server offers, and which call of each client makes them. */
export function offeredCalls(walked: readonly (readonly [Client, readonly Result[]])[]): readonly OfferedCall[] {
  const absent = new Set(absentFeatureRoutes);
  return routes
    .filter((route) => isOfMinio(route.path) && !absent.has(route))
    .flatMap((route) =>
      route.method.split('|').map((method) => {
        const by = new Map<Client, string>();
        for (const [client, results] of walked) {
          const maker = results.find(({ requests }) =>
            (requests ?? []).some((one) => firstRoute(one) === route && one.startsWith(`${method} `)),
          );
          const elsewhere = client === 'mc' ? streams[`${method} ${readable(route.path)}`] : undefined;
          if (elsewhere !== undefined) by.set(client, elsewhere);
          else if (maker !== undefined) by.set(client, nameOf(client, maker.call));
        }
        return { name: `${method} ${readable(route.path)}`, by };
      }),
    )
    .toSorted((a, b) => (a.name.split(' ')[1] ?? '').localeCompare(b.name.split(' ')[1] ?? ''));
}

/** As the server chooses it. */
function firstRoute(request: string) {
  const [method = '', path = ''] = request.split(' ');
  return routes.find((route) => route.path.test(path) && route.method.split('|').includes(method));
}

function readable(path: RegExp): string {
  return path.source
    .replace(/^\^(?:\\\/|\/)/, '')
    .replace(/\$$/, '')
    .replaceAll('\\/', '/')
    .replace(/^minio\/admin\/v\[34\]\//, '')
    .replace('minio/(admin/v[34]/kms|kms/v1)/', '/minio/kms/v1/')
    .replace(/\(\?:([^|)]*)\|[^)]*\)/, '$1')
    .replace('/?', '')
    .replaceAll('([^/]+)', 'NAME');
}

function nameOf(client: Client, call: string): string {
  if (client !== 'mc') return call.split(/:| of | with /)[0] ?? call;
  return call.split(/ ALIAS| --| FOLDER/)[0] ?? call;
}

/** Returns the page of the documentation. */
export function adminTable(calls: readonly OfferedCall[]): string {
  const clients: readonly Client[] = ['mc', 'minio-py', 'minio-java', 'madmin-go'];
  const header = ['call', ...clients.map((client) => `\`${client}\``)];
  const rows = calls.map(({ name, by }) => [
    `\`${name.replaceAll('|', '\\|')}\``,
    ...clients.map((client) => {
      const call = by.get(client);
      return call === undefined ? '' : `\`${call}\``;
    }),
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${preface}\n${[line(header), rule, ...rows.map(line)].join('\n')}\n`;
}

const preface = `# Administrators' clients

The calls of MinIO's admin API that the server offers, below \`/minio/admin/v3/\`, and by what stock clients make them. An empty cell: the client has no such call.
\`.ci/tier minio-client test/minio-client/admin-calls\` makes each of them at a Coffer and at a MinIO, compares how it ends and what the client reads, and
writes this table (\`COFFER_WRITE_TABLE=1\`). What ends otherwise is in \`differences.ts\` there, with the reason.
`;
