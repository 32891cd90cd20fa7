import { cpus, machine, release, type, uptime } from 'node:os';
import { redactSetting, redactText } from '../../../platform/output/redact-secrets.ts';
import { diagnosticsOf } from '../../administration/diagnostics.ts';
import type { AdminServices } from '../../administration/services.ts';
import { type AdminAnswer, type AdminCall, adminPath, nowOf, type Route } from '../call.ts';
import { currentInfo } from '../info.ts';
import { adminError } from '../../administration/admin-error.ts';

/** `mc support diag`: the report of the health of this server. */
export const healthRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('(?:healthinfo|obdinfo)'), action: 'admin:OBDInfo', serve: health },
];

/** The version of the report that clients read. */
const version = '3';

/**
 * Spaces between the documents. madmin-go reads them with a decoder each, and the first one keeps what it has read beyond its document: some
 * hundred bytes.
 */
const betweenDocuments = 8_192;

/** Standard leaves out addresses; strict leaves out all that people have named too. */
type Anonymity = 'standard' | 'strict';

/**
 * Two documents: the version, and the report. A client asks for the parts that it wants. The settings need the right to read them, and the
 * state of the server the right to that; secrets are never there.
 */
async function health(call: AdminCall): Promise<AdminAnswer> {
  const { query, services } = call;
  const anonymity = query.get('anonymize') || 'standard';
  if (anonymity !== 'standard' && anonymity !== 'strict')
    throw adminError('XMinioAdminInvalidArgument', 'The parameter anonymize is standard or strict.');
  const wants = (part: string) => query.get(part) === 'true';
  const [mayInfo, mayConfig] = [await call.allows('admin:ServerInfo'), await call.allows('admin:ConfigUpdate')];
  const host = await diagnosticsOf(services).host();
  // Clients name each server; a report goes to other people.
  const addr = 'server1';
  const tasks = (await services.backgroundTasks?.()) ?? [];
  const errors = tasks.flatMap(({ task, failure }) =>
    failure === undefined
      ? []
      : [anonymity === 'strict' ? `${task} fails` : `${task}: ${withoutAddress(failure.error, services)}`],
  );
  const { total, free, available } = host.memory;
  const report = {
    version,
    timestamp: nowOf(services).toISOString(),
    sys: {
      ...(wants('syscpu') && { cpus: [{ addr, cpus: processors() }] }),
      ...(wants('sysdrivehw') && { partitions: [{ addr, partitions: [await partition(services)] }] }),
      ...(wants('sysosinfo') && { osinfo: [{ addr, info: system() }] }),
      ...(wants('sysmem') && { meminfo: [{ addr, total, used: total - available, free, available }] }),
      ...(wants('sysprocess') && { procinfo: [{ addr, ...ownProcess(services) }] }),
      ...(wants('syserrors') && { errors: [{ addr, errors }] }),
      ...(wants('sysservices') && { services: [{ addr }] }),
      ...(wants('sysconfig') && { config: [{ addr, config: {} }] }),
      kubernetes: {},
    },
    minio: {
      ...(wants('minioconfig') && {
        config: mayConfig ? { config: settings(services, anonymity) } : missingRight('admin:ConfigUpdate'),
      }),
      ...(wants('minioinfo') && {
        info: mayInfo
          ? await state(services, anonymity)
          : { deploymentID: services.server.deploymentId, tls: null, is_kubernetes: null, is_docker: null },
      }),
    },
  };
  const text = `${JSON.stringify({ version })}${' '.repeat(betweenDocuments)}\n${JSON.stringify(report)}\n`;
  return { kind: 'bytes', bytes: Buffer.from(text), contentType: 'application/json' };
}

function missingRight(action: string) {
  return { error: `the caller may not do ${action}` };
}

function processors() {
  const found = cpus();
  return [...Map.groupBy(found, ({ model }) => model)].map(([model, ofModel]) => ({
    model_name: model,
    // The system of a virtual machine may not know it.
    ...(ofModel[0] !== undefined && ofModel[0].speed > 0 && { mhz: ofModel[0].speed }),
    cores: ofModel.length,
  }));
}

async function partition({ space }: AdminServices) {
  const found = await space();
  return { mountpoint: 'data', ...(found && { space_total: found.total, space_free: found.free }) };
}

function system() {
  return { os: type(), kernelVersion: release(), kernelArch: machine(), uptime: Math.round(uptime()) };
}

/** Arguments, folders and users of the process are left out. */
function ownProcess({ server }: AdminServices) {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const { user, system: ofSystem } = process.cpuUsage();
  const {
    voluntaryContextSwitches: voluntary,
    involuntaryContextSwitches: involuntary,
    minorPageFault,
    majorPageFault,
    maxRSS,
  } = process.resourceUsage();
  return {
    pid: process.pid,
    name: 'coffer-server',
    is_running: true,
    create_time: server.startedAt.getTime(),
    mem_info: { rss, hwm: maxRSS * 1_024, data: heapTotal },
    num_ctx_switches: { voluntary, involuntary },
    page_faults: { minorFaults: minorPageFault, majorFaults: majorPageFault },
    times: {
      cpu: 'cpu',
      user: user / 1e6,
      system: ofSystem / 1e6,
    },
    heap: { used: heapUsed, external },
  };
}

/** The settings that were given, with the values of those that are not secret and no text of people. */
function settings({ given }: AdminServices, anonymity: Anonymity): Record<string, string> {
  const rows = [...(given ?? new Map())].map(([name, { value }]): [string, string] => {
    if (value === undefined) return [name, '*redacted*'];
    const isPlain = /^(?:on|off|true|false|\d[\w.]*)$/i.test(value);
    return [name, anonymity === 'strict' && !isPlain ? '*left out*' : redactSetting(value)];
  });
  return Object.fromEntries(rows);
}

async function state(services: AdminServices, anonymity: Anonymity) {
  const info = await currentInfo(services);
  const { mode, deploymentID, buckets, objects, usage, backend } = info;
  const servers = info.servers.map((server, at) => ({
    state: server.state,
    endpoint: `server${at + 1}`,
    uptime: server.uptime,
    version: server.version,
    commitID: server.commitID,
    drives: server.drives.map((drive) => ({ ...drive, endpoint: `drive${at + 1}`, path: 'data', uuid: undefined })),
    poolNumber: server.poolNumber,
    poolNumbers: server.poolNumbers,
    mem_stats: {},
    // The first one is this server. Nothing is known of the machines of the others.
    ...(at === 0 && {
      go_max_procs: cpus().length,
      num_cpu: cpus().length,
      runtime_version: `node ${process.versions.node}`,
    }),
    edition: 'Coffer',
  }));
  return {
    mode,
    deploymentID,
    ...(anonymity === 'standard' && { region: info.region }),
    buckets,
    objects,
    usage,
    services: { kms: info.services.kms, ldap: info.services.ldap },
    backend,
    servers,
    tls: null,
    is_kubernetes: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
  };
}

/** Errors of libraries repeat the address that they did not reach. */
function withoutAddress(text: string, { server }: AdminServices): string {
  return redactText(text)
    .replaceAll(server.endpoint, 'server1')
    .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, 'ADDRESS');
}
