import { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isUnrestrictedRoot } from '../../administration/caller.ts';
import type { SiteReplication, SiteResyncReport } from '../../administration/sites.ts';
import {
  type AdminAnswer,
  type AdminCall,
  adminPath,
  json,
  jsonBody,
  nothing,
  type Route,
  sealed,
  sealedJsonBody,
} from '../call.ts';
import { diagnosticsOf } from '../../administration/diagnostics.ts';
import { devNull, maxSiteMs, numberOf } from '../diagnostics/speed-tests.ts';
import { peerInfo } from './peer-info.ts';
import { siteStatus, statusQuery } from './site-status.ts';
import { adminError } from '../../administration/admin-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

const path = (call: string) => adminPath(`site-replication/${call}`);

/** `mc admin replicate`. */
const administratorRoutes: readonly Route[] = [
  { method: 'PUT', path: path('add'), action: 'admin:SiteReplicationAdd', serve: add },
  { method: 'GET', path: path('info'), action: 'admin:SiteReplicationInfo', serve: info },
  { method: 'GET', path: path('status'), action: 'admin:SiteReplicationInfo', serve: status },
  { method: 'PUT', path: path('edit'), action: 'admin:SiteReplicationAdd', serve: edit },
  { method: 'PUT', path: path('remove'), action: 'admin:SiteReplicationRemove', serve: remove },
  { method: 'PUT', path: path('resync/op'), action: 'admin:SiteReplicationResync', serve: resync },
];

/**
 * The calls between sites, which are those of Coffer alone. The answers are encrypted, so that no proxy or attacker on the way can forge a
 * removal or another group.
 */
const peerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: path('peer/describe'),
    action: 'admin:SiteReplicationAdd',
    serve: async (call) => json(await sitesOf(call).peer.describe()),
  },
  {
    method: 'PUT',
    path: path('peer/join'),
    action: 'admin:SiteReplicationAdd',
    serve: async (call) => {
      requireRoot(call);
      await sitesOf(call).peer.join(await sealedJsonBody(call, z.unknown()));
      return nothing;
    },
  },
  {
    method: 'PUT',
    path: path('peer/edit'),
    action: 'admin:SiteReplicationOperation',
    serve: async (call) => {
      requireRoot(call);
      await sitesOf(call).peer.edit(await sealedJsonBody(call, z.unknown()));
      return nothing;
    },
  },
  {
    method: 'PUT',
    path: path('peer/remove'),
    action: 'admin:SiteReplicationRemove',
    serve: async (call) => {
      await call.sealedBody();
      await sitesOf(call).peer.leave();
      return nothing;
    },
  },
  {
    method: 'GET',
    path: path('peer/digest'),
    action: 'admin:SiteReplicationOperation',
    serve: async (call) => sealed(await sitesOf(call).peer.digest()),
  },
  {
    method: 'GET',
    path: path('peer/index'),
    action: 'admin:SiteReplicationOperation',
    serve: async (call) => sealed(await sitesOf(call).peer.index()),
  },
  {
    method: 'PUT',
    path: path('peer/items'),
    action: 'admin:SiteReplicationOperation',
    serve: async (call) => {
      requireRoot(call);
      return sealed(await sitesOf(call).peer.items(await jsonBody(call, z.unknown())));
    },
  },
  // A measurement of the connections, which `mc support perf site-replication` asks for.
  { method: 'POST', path: path('peer/devnull'), action: 'admin:SiteReplicationOperation', serve: devNull },
  {
    method: 'GET',
    path: path('peer/speed'),
    action: 'admin:SiteReplicationOperation',
    serve: async (call) => {
      const durationMs = Math.min(numberOf(call.query, 'duration', 10_000), maxSiteMs);
      const { peer } = sitesOf(call);
      const work = () => peer.speed(durationMs);
      return json(await diagnosticsOf(call.services).exclusively('speed test', 3 * maxSiteMs, work));
    },
  },
  {
    method: 'GET',
    path: path('peer/server-speed'),
    action: 'admin:SiteReplicationOperation',
    // The server that asks has the lock of the measurement, which is one for all servers of these stores.
    serve: async (call) => {
      requireRoot(call);
      const durationMs = Math.min(numberOf(call.query, 'duration', 10_000), maxSiteMs);
      const { serverSpeeds } = call.services;
      return json({ sent: (await serverSpeeds?.sendToOthers(durationMs)) ?? [] });
    },
  },
];

export const siteReplicationRoutes: readonly Route[] = [...administratorRoutes, ...peerRoutes];

const newSites = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(128),
      endpoints: z.string().max(512),
      accessKey: z.string().min(1).max(128),
      secretKey: z.string().min(1).max(128),
    }),
  )
  .max(32);

async function add(call: AdminCall): Promise<AdminAnswer> {
  requireRoot(call);
  const sites = (await sealedJsonBody(call, newSites)).map(({ endpoints, ...site }) => ({
    ...site,
    endpoint: endpointOf(endpoints),
  }));
  await sitesOf(call).add(sites, call.query.get('replicateILMExpiry') === 'true');
  return json({ success: true, status: 'Requested sites were configured for replication successfully.' });
}

function endpointOf(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '';
  if (!isPlain || (url.pathname !== '/' && url.pathname !== '')) {
    throw invalid('The endpoint of a site must be http:// or https:// with a host, and without a path.');
  }
  return url.origin;
}

async function info(call: AdminCall): Promise<AdminAnswer> {
  const shown = await call.services.sites?.shown();
  if (shown === undefined) return json({ enabled: false, name: '', sites: null, serviceAccountAccessKey: '' });
  return json({
    enabled: true,
    name: shown.sites.find(({ deploymentId }) => deploymentId === shown.self)?.name ?? '',
    sites: shown.sites.map((site) => peerInfo(site, shown)),
    serviceAccountAccessKey: shown.account,
    apiVersion: '1',
  });
}

async function status(call: AdminCall): Promise<AdminAnswer> {
  const contents = await call.services.sites?.contents();
  return json(contents === undefined ? { Enabled: false, Sites: null } : siteStatus(contents, statusQuery(call.query)));
}

const changeOfSite = z.strictObject({
  /** `mc` sends all that it was shown of a site. The name stays, and a parameter of the request says whether expiry is replicated. */
  name: z.string().max(128).optional(),
  'replicate-ilm-expiry': z.boolean().optional(),
  objectNamingMode: z.string().max(16).optional(),
  apiVersion: z.string().max(16).optional(),
  endpoint: z.string().max(512).default(''),
  deploymentID: z.string().max(128).default(''),
  sync: z.string().max(16).default(''),
  defaultbandwidth: z
    .strictObject({
      bandwidthLimitPerBucket: z.int().nonnegative(),
      set: z.boolean(),
      updatedAt: z.string().max(64).optional(),
    })
    .optional(),
});

const minBandwidth = 100_000_000;

async function edit(call: AdminCall): Promise<AdminAnswer> {
  requireRoot(call);
  const { endpoint, deploymentID, sync, defaultbandwidth } = await sealedJsonBody(call, changeOfSite);
  if (sync === 'enable') throw new S3Error('NotImplemented', 'Synchronous replication is not implemented: use async.');
  const [disable, enable] = ['disable', 'enable'].map((how) => call.query.get(`${how}ILMExpiryReplication`) === 'true');
  const bandwidth = defaultbandwidth?.set === true ? defaultbandwidth.bandwidthLimitPerBucket : undefined;
  if (bandwidth !== undefined && bandwidth > 0 && bandwidth < minBandwidth) {
    throw new S3Error('XMinioAdminReplicationBandwidthLimitError');
  }
  await sitesOf(call).edit({
    deploymentId: deploymentID === '' ? undefined : deploymentID,
    endpoint: endpoint === '' ? undefined : endpointOf(endpoint),
    bandwidthLimit: bandwidth,
    replicateIlmExpiry: disable === true ? false : enable === true ? true : undefined,
  });
  return json({ success: true, status: 'Requested site was updated successfully.' });
}

const removal = z.strictObject({
  requestingDepID: z.string().optional(),
  sites: z.array(z.string().max(128)).max(32).nullish(),
  all: z.boolean().default(false),
});

async function remove(call: AdminCall): Promise<AdminAnswer> {
  const { sites, all } = await jsonBody(call, removal);
  if (!all && (sites ?? []).length === 0) throw invalid('Name the sites to remove, or remove all.');
  const failures = await sitesOf(call).remove(all ? 'all' : (sites ?? []));
  if (failures.length === 0) {
    return json({ status: 'Requested site(s) were removed from cluster replication successfully.' });
  }
  return json({
    status: 'Some site(s) could not be removed from cluster replication configuration.',
    errorDetail: failures.join(' '),
  });
}

async function resync(call: AdminCall): Promise<AdminAnswer> {
  const operation = call.required('operation');
  const { deploymentID } = await jsonBody(call, z.object({ deploymentID: z.string().max(128) }));
  const sites = sitesOf(call);
  if (operation === 'start') return json(resyncReport(operation, await sites.startResync(deploymentID)));
  if (operation === 'cancel') return json(resyncReport(operation, await sites.cancelResync(deploymentID)));
  throw invalid(`The operation ${operation.slice(0, 64)} is not known: use start or cancel.`);
}

function resyncReport(op: string, { id, buckets }: SiteResyncReport) {
  const failed = buckets.flatMap(({ bucket, error }) => (error === undefined ? [] : [`${bucket}: ${error}`]));
  return {
    op,
    id,
    status: failed.length === 0 ? 'success' : failed.length < buckets.length ? 'partial' : 'failed',
    buckets: buckets.map(({ bucket, error }) => ({
      bucket,
      status: error === undefined ? 'started' : 'failed',
      ...(error !== undefined && { errorDetail: error }),
    })),
    ...(failed.length > 0 && { errorDetail: failed.join(' ') }),
  };
}

/** The sites call each other with an account of the root user. Who makes it, reads all secret keys, or says where objects go, is root. */
function requireRoot({ principal }: AdminCall): void {
  if (isUnrestrictedRoot(principal)) return;
  throw new S3Error('AccessDenied', 'Access denied: sites replicate with the keys of their root users.');
}

function sitesOf({ services: { sites } }: AdminCall): SiteReplication {
  if (sites !== undefined) return sites;
  throw adminError('XCofferRefused', 'This server does not replicate sites.');
}

function invalid(message: string): RequestError {
  return adminError('XMinioAdminInvalidArgument', message);
}
