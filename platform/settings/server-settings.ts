import { group, type SettingReader, type GivenSetting } from './setting-source.ts';
import type { NotifySettings } from './notify-settings.ts';
import type { AuditSettings } from './audit-settings.ts';
import type { IdentityPluginSettings, ClientCertificateSettings, LdapSettings } from './identity-settings.ts';
import type { Size } from './parse-value.ts';

/** The interval and the speed of the scanner, which counts objects and bytes by bucket. */
interface ScannerSettings {
  /** Milliseconds between two scans; 0 for scans on request only. */
  readonly cycleMs: number;
  /** Infinity means no limit. */
  readonly recordsPerSecond: number;
  /** Versions of a key, bytes of its noncurrent versions, and prefixes directly below a prefix, from which the scanner sends an event. */
  readonly limits: { readonly versions: number; readonly bytes: number; readonly folders: number };
}

/** The speed of lifecycle rules, and the length of their day. */
interface LifecycleSettings {
  readonly dayMs: number;
  readonly removalsPerSecond: number;
}

/** The speeds by MinIO's names. */
const speeds: ReadonlyMap<string | undefined, number> = new Map([
  ['fastest', Infinity],
  ['fast', 100_000],
  ['default', 20_000],
  ['slow', 5_000],
  ['slowest', 1_000],
]);
const defaultSpeed = 20_000;

export function readScannerSettings(reader: SettingReader): ScannerSettings {
  const read = group(reader, 'SVC_SCANNER_');
  return {
    cycleMs: read.number('CYCLE') ?? 60_000,
    recordsPerSecond: speeds.get(read.text('SPEED')) ?? defaultSpeed,
    limits: {
      versions: read.number('ALERT_EXCESS_VERSIONS') ?? 100,
      // MinIO has no setting for it.
      bytes: 1024 ** 4,
      folders: read.number('ALERT_EXCESS_FOLDERS') ?? 50_000,
    },
  };
}

export function readLifecycleSettings(reader: SettingReader): LifecycleSettings {
  const read = group(reader, 'SVC_LIFECYCLE_');
  return { dayMs: read.number('DAY') ?? 86_400_000, removalsPerSecond: read.number('RATE') ?? 2_000 };
}

/** The checked settings of `coffer-server`. Their rows and help texts are in `protocol/settings/table.ts`. */
export interface ServerSettings {
  readonly root: { readonly user: string; readonly password: string };
  /** A file with the root credentials before a rotation. The server reads it again when it changes. */
  readonly formerRootFile?: string;
  /** The file that names the deployment whose stores the server may have. */
  readonly deploymentFile?: string;
  readonly region: string;
  /** SVC_REGION is set: the server refuses signatures for another region. */
  readonly regionEnforced: boolean;
  /** HOST:PORT. */
  readonly address: string;
  readonly consoleAddress: string;
  /** Undefined where buckets are not websites. */
  readonly websiteAddress?: string;
  readonly dataFolder?: string;
  readonly serverUrl?: string;
  /** The host names of the S3 API. The name below one of them is a bucket (virtual-host style). */
  readonly domains: readonly string[];
  /** The S3 requests that may be signed by Signature Version 2. */
  readonly signatureV2: 'presigned' | 'on' | 'off';
  /** Whether canned ACLs of uploads and new buckets are ignored or refused where ACLs do not count. */
  readonly cannedAcls: 'ignore' | 'refuse';
  /** The origins whose pages may use S3 and STS, each with at most one `*`. The CORS configuration of a bucket decides instead. */
  readonly corsOrigins: readonly string[];
  readonly browser: {
    readonly enabled: boolean;
    readonly redirectUrl?: string;
    /** The hosts that a dynamic redirect may name. An empty list means any. */
    readonly redirectHosts: readonly string[];
    readonly sessionMs: number;
  };
  /** The addresses and ranges of proxies whose statement about the client's address is trusted. */
  readonly proxies: { readonly trusted: readonly string[]; readonly header: 'x-forwarded-for' | 'forwarded' };
  readonly threads?: number;
  readonly audit: AuditSettings;
  readonly notify: NotifySettings;
  /** `jwt`: Prometheus needs a token. */
  readonly metricsAuthorization: 'jwt' | 'public';
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly stores: StoreSettings;
  readonly storageReserve: Size;
  /** The share of a segment that may be garbage, from 0 to 1. */
  readonly maxGarbage: number;
  /** The speed at which bodies are moved between segments; 0 moves none. */
  readonly compactionBytesPerSecond: number;
  /** The newest format in which this server agrees to write records of objects. */
  readonly recordFormat: number;
  /** True where bodies that are files of their own are moved to segments. */
  readonly packsBodies: boolean;
  /** The speed of the background scrub; 0 switches it off. */
  readonly scrubBytesPerSecond: number;
  readonly scanner: ScannerSettings;
  readonly lifecycle: LifecycleSettings;
  /** Milliseconds between two deliveries of access logs. */
  readonly accessLogIntervalMs: number;
  /** Milliseconds between the end of readiness and the end of accepting. */
  readonly shutdownDelayMs: number;
  /** Milliseconds after that in which the server answers requests by 503 with Retry-After. */
  readonly shutdownRefusalMs: number;
  readonly stsDurationMs?: number;
  readonly keyService?: KeyServiceSettings;
  /** A key from the environment, which replaces a key service. */
  readonly secretKey?: SecretKeySettings;
  readonly autoEncryption: boolean;
  /** Keys of clients are allowed over plain HTTP too. */
  readonly customerKeysWithoutTls: boolean;
  /** The budget of a query of S3 Select: milliseconds of processor time, and bytes to which its object may expand. */
  readonly queryBudget: { readonly processorMs: number; readonly decompressedBytes: number };
  readonly openid: readonly OpenIdProviderSettings[];
  readonly userStatusCheck: UserStatusCheckSettings;
  /** Each field is absent if it is not configured. */
  readonly ldap?: LdapSettings;
  readonly clientCertificates?: ClientCertificateSettings;
  readonly identityPlugin?: IdentityPluginSettings;
  /** The settings of the environment by name, for administrators. */
  readonly given: ReadonlyMap<string, GivenSetting>;
  /** Warnings that do not stop the server, e.g. unknown variables. */
  readonly warnings: readonly string[];
}

/** The locations of records and blobs, unchanged. The default is the data folder. */
export interface StoreSettings {
  /** May hold a password. */
  readonly records?: string;
  readonly recordsPassword?: string;
  /** The file that holds the password. It is read again when the database refuses the password. */
  readonly recordsPasswordFile?: string;
  /** The path of a file with authorities. */
  readonly recordsCaFile?: string;
  readonly blobs?: string;
  /** Further settings of `blobs` if it is a bucket. */
  readonly s3: {
    readonly endpoint?: string;
    /** The path of a file with authorities. */
    readonly caFile?: string;
    readonly region: string;
    readonly accessKey?: string;
    readonly secretKey?: string;
    /** The files that hold the keys. They are read again when that S3 refuses the keys. */
    readonly accessKeyFile?: string;
    readonly secretKeyFile?: string;
  };
}

export interface KeyServiceSettings {
  readonly endpoints: readonly string[];
  readonly defaultKey: string;
  readonly client:
    | {
        readonly kind: 'certificate';
        readonly certFile: string;
        readonly keyFile: string;
        readonly keyPassword?: string;
      }
    | { readonly kind: 'api-key'; readonly apiKey: string };
  /** A PEM file or a folder of them. */
  readonly caPath?: string;
  readonly enclave?: string;
}

export interface SecretKeySettings {
  readonly name: string;
  /** Base64 of 32 bytes. */
  readonly secretKey: string;
}

/** Reports whether encryption keys are configured. */
export function hasKeys(settings: Pick<ServerSettings, 'keyService' | 'secretKey'>): boolean {
  return settings.keyService !== undefined || settings.secretKey !== undefined;
}

/** The periodic check whether external users with credentials still exist at their provider. */
interface UserStatusCheckSettings {
  /** Milliseconds; 0 switches the periodic check off. */
  readonly intervalMs: number;
  /** The decision about a user who requests credentials while the provider is unreachable. */
  readonly unreachable: 'keep' | 'refuse';
}

export interface OpenIdProviderSettings {
  /** The `<ID>` of the variables, e.g. `PRIMARY_IAM`; `_` without one. */
  readonly id: string;
  readonly enabled: boolean;
  readonly configUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The way in which the client authenticates; without it each way is tried. */
  readonly clientMethod?: 'client_secret_basic' | 'client_secret_post';
  /** The public client of `coffer login`. */
  readonly cliClientId?: string;
  readonly displayName?: string;
  readonly scopes: readonly string[];
  /** The name of the claim, with the prefix. */
  readonly claimName: string;
  readonly claimUserinfo: boolean;
  readonly rolePolicy: readonly string[];
  readonly redirectUri?: string;
  readonly redirectUriDynamic: boolean;
  readonly vendor?: 'keycloak' | 'kubernetes';
  /** The issuer that discovery and tokens must have, where it differs from `configUrl`. */
  readonly issuer?: string;
  readonly jwksUri?: string;
  /** The token is sent only to the address of `configUrl`. */
  readonly tokenFile?: string;
  readonly adminUrl?: string;
  readonly realm: string;
  readonly caFile?: string;
  /** PEM. */
  readonly ca?: string;
  readonly userReadableClaim?: string;
  /** The claim with the ID of the user in the admin interface; `sub` by default. */
  readonly userIdClaim?: string;
  readonly comment?: string;
}
