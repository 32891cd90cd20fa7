import { randomBytes } from 'node:crypto';
import { ThreadEvents } from '../outbox/thread-events.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { SharedMutex } from '../shared-memory/shared-mutex.ts';
import { openKeyServiceClient } from '../../platform/key-service/client.ts';
import type { DescribeKeyAnswer } from '../../protocol/key-service/payloads.ts';
import type { KeyServiceSettings, SecretKeySettings, ServerSettings } from '../../platform/settings/server-settings.ts';
import { staticKey, type KeyAdministration } from '../administration/keys.ts';
import { type KeyDescription } from '../../protocol/admin/keys.ts';
import {
  createAccess,
  type AccessService,
  policiesOf,
  type PolicySource,
  createAuthenticator,
  type Authenticate,
  createCallerVerifier,
} from '../auth/access.ts';
import { type AuthenticateForm, createFormAuthenticator } from '../auth/authenticate-form.ts';
import type { ConfiguredDirectory } from '../federation/ldap/configured-directory.ts';
import type { OpenIdProviders } from '../federation/openid-providers.ts';
import { keyServiceKeys } from '../encryption/key-service-keys.ts';
import { type DigestKeys, digestKeys } from '../encryption/digest-keys.ts';
import { KeyProof } from '../encryption/key-proof.ts';
import { type KeySource, noKeySource } from '../encryption/key-source.ts';
import { secretKeySource } from '../encryption/secret-key-source.ts';
import { type SealedRecordStore, sealedRecords } from '../encryption/sealed-records.ts';
import { openIdentities } from '../auth/identities/open-identities.ts';
import { openIdentityServices, type IdentityServices } from './identity-services.ts';
import { bucketAccess } from '../objects/buckets/bucket-access.ts';
import { existingAcl, existingTags } from '../objects/attributes/existing-object.ts';
import type { BufferSlots } from '../objects/hashing/buffer-slots.ts';
import type { RequestTracing } from './request-observers.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { DamageEvent } from '../objects/contract/damage-event.ts';
import type { LeftUploads } from '../objects/contract/left-uploads.ts';
import { counted } from '../../platform/text/message-text.ts';
import { createObjectLayer } from '../objects/objects.ts';
import { sealWastefulSegments } from '../objects/segments/seal-wasteful-segments.ts';
import { repeated } from '../cluster/repeated.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreUnavailable } from '../store/store-error.ts';
import {
  createAssumeRoleWithLdapIdentity,
  type AssumeRoleWithLdapIdentity,
  ldapIdentityAction,
} from '../sts/assume-role-with-ldap-identity.ts';
import {
  createAssumeRoleWithWebIdentity,
  type AssumeRoleWithWebIdentity,
  assumeRoleWithClientGrants,
  webIdentityAction,
} from '../sts/assume-role-with-web-identity.ts';
import type { ThreadOptions } from './threads.ts';
import { openThreadStores, type ThreadStores } from './thread-stores.ts';
import { assumeRole, getCallerIdentity, signedCaller } from '../sts/assume-role.ts';
import { listSignInProviders } from '../sts/list-sign-in-providers.ts';
import { assumeRoleWithCertificate } from '../sts/assume-role-with-certificate.ts';
import { assumeRoleWithCustomToken, askPlugin } from '../sts/assume-role-with-custom-token.ts';
import { TierConfigurations } from '../tiering/tier-configurations.ts';
import { TierStores } from '../tiering/tier-stores.ts';
import { TieredBlobs } from '../tiering/tiered-blobs.ts';
import type { StsAction } from '../sts/sts-request.ts';

/** The services of a thread: its own handles on the stores and the key service, and the layers above them. */
export interface Services {
  readonly stores: ThreadStores;
  readonly records: RecordStore;
  /** With the bodies in tiers. */
  readonly blobs: BlobStore;
  readonly keys: KeySource;
  readonly digests: DigestKeys;
  /** Absent without a key service. */
  readonly keyAdministration?: KeyAdministration;
  readonly sealed: SealedRecordStore;
  readonly tierConfigurations: TierConfigurations;
  readonly objects: ObjectLayer;
  /** The events of this thread. */
  readonly events: ThreadEvents;
  readonly policies: PolicySource;
  readonly access: AccessService;
  readonly authenticate: Authenticate;
  readonly authenticateForm: AuthenticateForm;
  readonly providers: OpenIdProviders;
  /** The directory of the current configuration. */
  readonly directory: ConfiguredDirectory;
  readonly federation: Pick<IdentityServices, 'userStatusCheck' | 'identityProviders' | 'configurations'>;
  readonly assumeRoleWithWebIdentity: AssumeRoleWithWebIdentity;
  readonly assumeRoleWithLdapIdentity: AssumeRoleWithLdapIdentity;
  close(): Promise<void>;
}

const clock = () => new Date();

/** Milliseconds between two looks at the garbage of the segment to which a thread appends. A look reads one record. */
const sealingIntervalMs = 10_000;
/** Milliseconds that a stop waits for such a look. */
const sealingGracePeriodMs = 1_000;

export async function openServices(
  options: ThreadOptions,
  logs: { main: Logger; providers: Logger; userStatus: Logger },
  more: { readonly bufferSlots?: BufferSlots | undefined; readonly tracing?: RequestTracing | undefined } = {},
): Promise<Services> {
  const { settings } = options;
  const stores = await openThreadStores({
    ...options.stores,
    ownBlobs: options.stores.folder?.holdsBlobs === true,
    deploymentFile: settings.deploymentFile,
    log: logs.main,
  });
  const proof = new KeyProof({ records: stores.records });
  const keyService = await openKeys(settings, proof, logs.main);
  const plain = { records: stores.records, blobs: stores.blobs, keys: keyService?.keys ?? noKeySource };
  const { records, blobs: ownBlobs, keys } = more.tracing?.stores(plain) ?? plain;
  const sealed = sealedRecords({ records, keys });
  const tierConfigurations = new TierConfigurations(sealed);
  const tiers = new TierStores(tierConfigurations, records);
  const blobs = new TieredBlobs(ownBlobs, tiers);
  const digests = digestKeys(() => sealed.backendKey());
  // No other server changes records in a folder.
  const staleMs = options.stores.folder === undefined ? 1_000 : 0;
  const events = new ThreadEvents({ records, random: randomBytes, log: logs.main });
  const identities = openIdentities({ records: sealed, rootUser: settings.root.user, staleMs, clock });
  const policies = policiesOf(identities);
  const { access, providers, directory, ...federation } = openIdentityServices({
    settings,
    sealed,
    access: createAccess({
      records: sealed,
      root: settings.root,
      ...(settings.formerRootFile === undefined ? {} : { formerRootFile: settings.formerRootFile }),
      identities,
      bucketAccess: bucketAccess(records),
      objectTags: existingTags({ records }),
      objectAcl: existingAcl({ records }),
      clock,
    }),
    staleMs,
    logs,
    clock,
  });
  // Only segments without bodies give space back if no body may move.
  const maxGarbage = settings.compactionBytesPerSecond > 0 ? settings.maxGarbage : 1;
  const sealing = repeated(
    sealingIntervalMs,
    () => sealWastefulSegments({ records: stores.records, blobs: stores.blobs, maxGarbage }),
    (error) => {
      // The next look finds the garbage again, and the outage of a store is logged already.
      if (!isStoreUnavailable(error))
        logs.main.error({ err: error }, 'could not look at the garbage of the open segment; the next look does');
    },
  );
  const authentication = {
    signatureV2: settings.signatureV2,
    credentials: access,
    ...(settings.regionEnforced ? { region: settings.region } : {}),
  };
  return {
    stores,
    records,
    blobs,
    keys,
    digests,
    ...(keyService === undefined ? {} : { keyAdministration: keyService.administration }),
    sealed,
    tierConfigurations,
    events,
    objects: createObjectLayer({
      records,
      blobs,
      keys,
      digests,
      autoEncryption: settings.autoEncryption,
      reserve: settings.storageReserve,
      lifecycleDayMs: settings.lifecycle.dayMs,
      blockSumsMutex: new SharedMutex({ memory: options.blockSums }),
      events,
      tiers,
      onDamage: (event) => logDamage(logs.main, event),
      onUploadsEnded: (ended) => logEndedUploads(logs.main, ended),
      ...(more.bufferSlots === undefined ? {} : { bufferSlots: more.bufferSlots }),
    }),
    policies,
    access,
    authenticate: createAuthenticator(authentication),
    authenticateForm: createFormAuthenticator(authentication),
    providers,
    federation,
    directory,
    assumeRoleWithWebIdentity: traced(
      more.tracing,
      createAssumeRoleWithWebIdentity({
        providers,
        access,
        ...(settings.stsDurationMs === undefined ? {} : { defaultDuration: settings.stsDurationMs / 1_000 }),
        clock,
      }),
    ),
    assumeRoleWithLdapIdentity: createAssumeRoleWithLdapIdentity({ ...access, directory, clock }),
    async close() {
      providers.close();
      keyService?.close();
      tiers.close();
      await events.flush();
      await sealing.stop(sealingGracePeriodMs);
      await stores.close();
    },
  };
}

/** Writes the log lines that docs/guides/store.md promises. */
function logDamage(log: Logger, { kind, what, ...place }: DamageEvent): void {
  switch (kind) {
    case 'quarantined':
      log.error({ event: 'object-damaged', ...place }, `an object is damaged, and is not served: ${what}`);
      return;
    case 'read-again':
      log.warn(
        { event: 'object-read-again', ...place },
        `a read found damaged bytes, and a second one over a new connection did not: ${what}; look for a fault of the way to the blobs`,
      );
      return;
    case 'released':
      log.info({ event: 'object-released', ...place }, 'an object that was damaged is whole again, and is served');
  }
}

/** The parts of these uploads are removed afterwards. */
function logEndedUploads(log: Logger, { count, ...place }: LeftUploads): void {
  const what = counted(count, 'upload', 'uploads');
  log.info(
    { event: 'left-uploads-ended', ...place, count },
    `${what} in parts of version ${place.versionId} of ${place.bucket}/${place.key.slice(0, 64)} ended: another server had left them unfinished`,
  );
}

function traced(tracing: RequestTracing | undefined, assume: AssumeRoleWithWebIdentity): AssumeRoleWithWebIdentity {
  return tracing?.assumeRole(assume) ?? assume;
}

interface Keys {
  readonly keys: KeySource;
  readonly administration: KeyAdministration;
  close(): void;
}

/** Returns undefined if no keys are configured. */
async function openKeys(settings: ServerSettings, proof: KeyProof, log: Logger): Promise<Keys | undefined> {
  if (settings.keyService !== undefined) return openKeyService(settings.keyService, proof, log);
  return settings.secretKey && openSecretKey(settings.secretKey, proof);
}

function openSecretKey({ name, secretKey }: SecretKeySettings, proof: KeyProof): Keys {
  const keys = secretKeySource({ name, bytes: Buffer.from(secretKey, 'base64') }, { proof });
  return { keys, administration: staticKey(keys), close: () => undefined };
}

/** Milliseconds that a request waits for the key service. A request that needs a key gets its 503 within 5 s. */
const keyServiceTimeoutMs = 4500;

/** Milliseconds that an endpoint has to answer: less than a scrape of the metrics waits, which would leave a silent endpoint out. */
const endpointTimeoutMs = 2_500;

async function openKeyService(settings: KeyServiceSettings, proof: KeyProof, log: Logger): Promise<Keys> {
  const { client: credentials, defaultKey } = settings;
  const client = await openKeyServiceClient({
    endpoints: settings.endpoints,
    credentials:
      credentials.kind === 'api-key'
        ? credentials
        : {
            kind: 'files',
            certFile: credentials.certFile,
            keyFile: credentials.keyFile,
            ...(credentials.keyPassword === undefined ? {} : { password: credentials.keyPassword }),
          },
    ...(settings.caPath === undefined ? {} : { caFile: settings.caPath }),
    caSetting: 'SVC_KMS_KEYSVC_CAPATH',
    ...(settings.enclave === undefined ? {} : { enclave: settings.enclave }),
    log,
  });
  const prompt = client.within(keyServiceTimeoutMs);
  const keys = keyServiceKeys(prompt, { defaultKey, once: prompt.once(), proof });
  const administration: KeyAdministration = {
    name: 'KES',
    endpoints: settings.endpoints,
    source: keys,
    answers: (endpoint) => client.answers(endpoint, endpointTimeoutMs),
    createKey: (name) => client.createKey(name),
    importKey: (name, bytes) => client.importKey(name, bytes),
    rotateKey: (name) => client.rotateKey(name),
    describeKey: async (name) => keyDescription(await client.describeKey(name)),
    listKeys: (prefix) => client.listKeys(prefix),
    deleteKey: (name) => client.deleteKey(name),
    version: async () => (await client.version()).version,
    apis: async () => (await client.apis()).map(({ max_body: maxBody, ...api }) => ({ ...api, maxBody })),
    metrics: () => client.ask('GET', '/v1/metrics'),
  };
  return { keys, administration, close: () => client.close() };
}

/** The answer names its versions only if there are several. */
function keyDescription({ id, algorithm, created_at, created_by, versions }: DescribeKeyAnswer): KeyDescription {
  return {
    ...(algorithm !== undefined && { algorithm }),
    ...(created_at !== undefined && { createdAt: created_at }),
    ...(created_by !== undefined && { createdBy: created_by }),
    versions: versions ?? (id === undefined ? [] : [id]),
  };
}

/** Returns the actions of the STS API. */
export function stsActions(services: Services, settings: ServerSettings): readonly StsAction[] {
  const { access, assumeRoleWithWebIdentity, assumeRoleWithLdapIdentity } = services;
  const { clientCertificates: certificates } = settings;
  const caller = signedCaller(createCallerVerifier({ credentials: access, clock }));
  return [
    assumeRole({ ...access, caller, clock }),
    webIdentityAction(assumeRoleWithWebIdentity),
    assumeRoleWithClientGrants(assumeRoleWithWebIdentity),
    ldapIdentityAction(assumeRoleWithLdapIdentity),
    assumeRoleWithCertificate({ ...access, ...(certificates === undefined ? {} : { settings: certificates }), clock }),
    assumeRoleWithCustomToken({ ...access, ...pluginOf(settings), region: settings.region, clock }),
    getCallerIdentity({ caller }),
    listSignInProviders(services.providers),
  ];
}

function pluginOf({ identityPlugin }: ServerSettings) {
  return identityPlugin === undefined ? {} : { plugin: { settings: identityPlugin, ask: askPlugin(identityPlugin) } };
}
