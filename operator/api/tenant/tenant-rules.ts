import { imageRule, isOneBundle } from '../fields.ts';
import { settings } from '../../../protocol/settings/table.ts';
import { celGiven, given, type Rules } from '../rule.ts';
import { targetRules } from './target-fields.ts';
import { tierRules, tierTransitions } from './tier-fields.ts';
import type { TenantSpec } from '../tenant.ts';
import { celSameVolume, sameVolume } from '../volume-fields.ts';

// Settings of identity providers have their own rule, which names the field to use.
const serverSettings = settings.filter(({ scope }) => scope !== 'per-provider').map(({ name }) => name);
const targetSettings = settings.filter(({ scope }) => scope === 'per-target').map(({ name }) => `${name}_`);
const isServerSetting = (name: string) =>
  serverSettings.includes(name) || targetSettings.some((prefix) => name.startsWith(prefix));

const celList = (values: readonly string[]) => `[${values.map((value) => `'${value}'`).join(', ')}]`;

type Setting = NonNullable<TenantSpec['settings']>[number];

const oneSource = ({ valueFrom }: Setting) =>
  valueFrom === undefined || given(valueFrom.secretKeyRef, valueFrom.configMapKeyRef) === 1;

const sources = ({ secretName, certManager, operatorMade }: NonNullable<TenantSpec['tls']>) =>
  given(secretName, certManager) + (operatorMade === true ? 1 : 0);

/** Returns the kind of store for the bodies of objects. */
function blobStoreOf({ storage: { blobs } }: TenantSpec): 'embedded' | 's3' | 'sharedVolume' {
  if (blobs === undefined) return 'embedded';
  return blobs.s3 === undefined ? 'sharedVolume' : 's3';
}

const loadBalancers = ({ services }: TenantSpec) =>
  [services?.s3, services?.console].filter((one) => one !== undefined);

const celService = (port: string) =>
  `(!has(self.services) || !has(self.services.${port}) || self.services.${port}.type == 'LoadBalancer' || ` +
  `(!has(self.services.${port}.loadBalancerClass) && !has(self.services.${port}.loadBalancerSourceRanges)))`;

const celExposed = (port: string) =>
  `(!has(self.services) || !has(self.services.${port}) || self.services.${port}.type != 'ClusterIP' || ` +
  `(!has(self.services.${port}.nodePort) && !has(self.services.${port}.externalTrafficPolicy)))`;

const celOneBundle = (store: 'records.postgres' | 'blobs.s3') => {
  const [kind] = store.split('.');
  const from = `self.storage.${store}.caBundleFrom`;
  const absent = [`!has(self.storage.${kind})`, `!has(self.storage.${store})`, `!has(${from})`];
  return `${absent.join(' || ')} || has(${from}.configMapKeyRef) != has(${from}.secretKeyRef)`;
};

const celSame = (field: string) => `has(self.storage.${field}) == has(oldSelf.storage.${field})`;

export const tenantRules: Rules<TenantSpec> = {
  always: [
    imageRule,
    {
      field: 'spec.settings',
      message: 'settings must name settings of the server: see the table in docs/guides/settings.md',
      // The local runtime names the setting when it renders it.
      only: 'api-server',
      cel: `!has(self.settings) || self.settings.all(s, s.name in ${celList(serverSettings)} || ${celList(targetSettings)}.exists(t, s.name.startsWith(t)))`,
      holds: ({ settings: given }) => (given ?? []).every(({ name }) => isServerSetting(name)),
    },
    {
      field: 'spec.settings',
      message: 'each setting needs exactly one of value, valueFrom',
      cel: '!has(self.settings) || self.settings.all(s, has(s.value) != has(s.valueFrom))',
      holds: ({ settings }) =>
        (settings ?? []).every(({ value, valueFrom }) => (value === undefined) !== (valueFrom === undefined)),
    },
    {
      field: 'spec.settings',
      message: 'valueFrom needs exactly one of secretKeyRef, configMapKeyRef',
      cel: '!has(self.settings) || self.settings.all(s, !has(s.valueFrom) || has(s.valueFrom.secretKeyRef) != has(s.valueFrom.configMapKeyRef))',
      holds: ({ settings }) => (settings ?? []).every(oneSource),
    },
    {
      field: 'spec.settings',
      message: 'root credentials are no settings: name a Secret in rootCredentialsSecret',
      cel: "!has(self.settings) || self.settings.all(s, !s.name.startsWith('SVC_ROOT_'))",
      holds: ({ settings }) => (settings ?? []).every(({ name }) => !name.startsWith('SVC_ROOT_')),
    },
    {
      field: 'spec.settings',
      message: 'OpenID providers are no settings: make an IdentityProvider and name it in identityProviders',
      cel: "!has(self.settings) || self.settings.all(s, !s.name.startsWith('SVC_IDENTITY_OPENID_'))",
      holds: ({ settings }) => (settings ?? []).every(({ name }) => !name.startsWith('SVC_IDENTITY_OPENID_')),
    },
    {
      field: 'spec.settings',
      message: 'stores are no settings: write them in storage',
      cel: "!has(self.settings) || self.settings.all(s, !s.name.startsWith('SVC_STORE_'))",
      holds: ({ settings }) => (settings ?? []).every(({ name }) => !name.startsWith('SVC_STORE_')),
    },
    {
      field: 'spec.addresses',
      message: 'the S3 API and the console need different ports',
      cel: 'self.addresses.s3.port != self.addresses.console.port',
      holds: ({ addresses }) => addresses.s3.port !== addresses.console.port,
    },
    {
      field: 'spec.kmsConfigRef.defaultKey',
      message: 'kmsConfigRef.defaultKey must begin with keyPrefix, or the tenant could not use it',
      cel: '!has(self.kmsConfigRef) || !has(self.kmsConfigRef.defaultKey) || self.kmsConfigRef.defaultKey.startsWith(self.kmsConfigRef.keyPrefix)',
      holds: ({ kmsConfigRef }) =>
        kmsConfigRef?.defaultKey === undefined || kmsConfigRef.defaultKey.startsWith(kmsConfigRef.keyPrefix),
    },
    {
      field: 'spec.replicas',
      message:
        'several replicas need storage.records.postgres and one of storage.blobs.s3, storage.blobs.sharedVolume: the store on a ' +
        'volume of its own serves one server',
      cel: 'self.replicas == 1 || (has(self.storage.records) && has(self.storage.blobs))',
      holds: ({ replicas, storage }) =>
        replicas === 1 || (storage.records !== undefined && storage.blobs !== undefined),
    },
    {
      field: 'spec.storage.blobs',
      message: 'storage.blobs must name exactly one of s3, sharedVolume',
      cel: '!has(self.storage.blobs) || has(self.storage.blobs.s3) != has(self.storage.blobs.sharedVolume)',
      holds: ({ storage: { blobs } }) => blobs === undefined || given(blobs.s3, blobs.sharedVolume) === 1,
    },
    {
      field: 'spec.storage.blobs.s3.endpoint',
      message: 'storage.blobs.s3.endpoint must begin with https:// or http://',
      cel: "!has(self.storage.blobs) || !has(self.storage.blobs.s3) || self.storage.blobs.s3.endpoint.startsWith('https://') || self.storage.blobs.s3.endpoint.startsWith('http://')",
      holds: ({ storage: { blobs } }) => blobs?.s3 === undefined || /^https?:\/\//.test(blobs.s3.endpoint),
    },
    ...(['records.postgres', 'blobs.s3'] as const).map((store) => ({
      field: `spec.storage.${store}.caBundleFrom`,
      message: `storage.${store}.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef`,
      cel: celOneBundle(store),
      holds: ({ storage: { records, blobs } }: TenantSpec) =>
        isOneBundle((store === 'blobs.s3' ? blobs?.s3 : records?.postgres)?.caBundleFrom),
    })),
    {
      field: 'spec.storage.size',
      message:
        'storage.size is needed, such as 100Gi: on its volume the server keeps what storage.records and storage.blobs do not keep elsewhere',
      only: 'api-server',
      cel: 'has(self.storage.size) || has(self.storage.existingClaim) || (has(self.storage.records) && has(self.storage.blobs))',
      holds: ({ storage: { size, existingClaim, records, blobs } }) =>
        given(size, existingClaim) > 0 || given(records, blobs) === 2,
    },
    {
      field: 'spec.storage.path',
      message: 'storage.path is a folder of one machine: in a cluster, name existingClaim or storageClassName',
      only: 'api-server',
      cel: '!has(self.storage.path)',
      holds: ({ storage }) => storage.path === undefined,
    },
    {
      field: 'spec.storage',
      message: 'a volume that exists has its size and storage class already: leave out size and storageClassName',
      cel: '!has(self.storage.existingClaim) || (!has(self.storage.size) && !has(self.storage.storageClassName))',
      holds: ({ storage }) =>
        storage.existingClaim === undefined || given(storage.size, storage.storageClassName) === 0,
    },
    {
      field: 'spec.tls',
      message: 'tls needs exactly one of secretName, certManager, operatorMade: true',
      cel: `!has(self.tls) || (${celGiven('self.tls.secretName', 'self.tls.certManager')} + (has(self.tls.operatorMade) && self.tls.operatorMade ? 1 : 0)) == 1`,
      holds: ({ tls }) => tls === undefined || sources(tls) === 1,
    },
    {
      field: 'spec.tls.dnsNames',
      message: 'tls.dnsNames goes with certManager or operatorMade: a certificate of your own has its names already',
      cel: '!has(self.tls) || !has(self.tls.dnsNames) || !has(self.tls.secretName)',
      holds: ({ tls }) => tls?.dnsNames === undefined || tls.secretName === undefined,
    },
    {
      field: 'spec.services',
      message: 'loadBalancerClass and loadBalancerSourceRanges need a Service of type LoadBalancer',
      cel: `${celService('s3')} && ${celService('console')}`,
      holds: (spec) =>
        loadBalancers(spec).every(
          (one) => one.type === 'LoadBalancer' || given(one.loadBalancerClass, one.loadBalancerSourceRanges) === 0,
        ),
    },
    {
      field: 'spec.services',
      message: 'nodePort and externalTrafficPolicy need a Service of type NodePort or LoadBalancer',
      cel: `${celExposed('s3')} && ${celExposed('console')}`,
      holds: (spec) =>
        loadBalancers(spec).every(
          (one) => one.type !== 'ClusterIP' || given(one.nodePort, one.externalTrafficPolicy) === 0,
        ),
    },
    ...targetRules,
    ...tierRules,
  ],
  onChange: [
    ...tierTransitions,
    {
      field: 'spec.kmsConfigRef',
      message:
        'kmsConfigRef cannot be removed: the backend is encrypted, and the server could not start without its keys',
      cel: '!has(oldSelf.kmsConfigRef) || has(self.kmsConfigRef)',
      holds: (spec, old) => old.kmsConfigRef === undefined || spec.kmsConfigRef !== undefined,
    },
    {
      field: 'spec.storage',
      message: 'storage may not change its kind of records or blobs: what is stored would stay behind',
      cel: `${celSame('records')} && ${celSame('blobs')} && (!has(self.storage.blobs) || ${celSame('blobs.s3')})`,
      holds: (spec, old) =>
        (spec.storage.records === undefined) === (old.storage.records === undefined) &&
        blobStoreOf(spec) === blobStoreOf(old),
    },
    {
      field: 'spec.storage',
      message: 'storageClassName, accessMode and existingClaim may not change: what is stored would stay behind',
      cel: celSameVolume('storage'),
      holds: (spec, old) => sameVolume(spec.storage, old.storage),
    },
  ],
};
