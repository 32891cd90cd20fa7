import { group, type SettingReader, type GivenSetting } from './setting-source.ts';
import type { AuditSettings } from './audit-settings.ts';
import type { IdentityPluginSettings, ClientCertificateSettings, LdapSettings } from './identity-settings.ts';
import type { Size } from './parse-value.ts';

/** How often, and how fast, objects and bytes are counted by bucket. */
interface ScannerSettings {
  /** Milliseconds between two counts; 0 for counts only when somebody asks. */
  readonly cycleMs: number;
  /** Infinity for as fast as it goes. */
  readonly recordsPerSecond: number;
}

/** By the words that MinIO has for the speed of its scanner. */
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
  };
}

/** The settings of `coffer-server`, checked. Rows and help: `protocol/settings/table.ts`. */
export interface ServerSettings {
  readonly root: { readonly user: string; readonly password: string };
  /** Root credentials of before a rotation, as a file that is read again. */
  readonly formerRootFile?: string;
  readonly region: string;
  /** Whether SVC_REGION was given: then signatures for another region are refused. */
  readonly regionEnforced: boolean;
  /** HOST:PORT. */
  readonly address: string;
  readonly consoleAddress: string;
  readonly dataFolder?: string;
  readonly serverUrl?: string;
  /** Names under which clients reach the S3 API; what is below them is a bucket of virtual-host style. */
  readonly domains: readonly string[];
  readonly browser: {
    readonly enabled: boolean;
    readonly redirectUrl?: string;
    /** Hosts that a dynamic redirect may name; none given: any. */
    readonly redirectHosts: readonly string[];
    readonly sessionMs: number;
  };
  /** Proxies whose word about the client is taken: addresses and ranges. */
  readonly proxies: { readonly trusted: readonly string[]; readonly header: 'x-forwarded-for' | 'forwarded' };
  readonly threads?: number;
  readonly audit: AuditSettings;
  /** Whether Prometheus needs a token. */
  readonly metricsAuthorization: 'jwt' | 'public';
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly stores: StoreSettings;
  readonly storageReserve: Size;
  /** Of the background scrub; 0 for none. */
  readonly scrubBytesPerSecond: number;
  readonly scanner: ScannerSettings;
  /** Milliseconds between not being ready any more and the end of accepting. */
  readonly shutdownDelayMs: number;
  /** Milliseconds after that during which requests are answered by 503 and the time to come again. */
  readonly shutdownRefusalMs: number;
  readonly stsDurationMs?: number;
  readonly keyService?: KeyServiceSettings;
  /** One key of the environment in place of a key service. */
  readonly secretKey?: SecretKeySettings;
  readonly autoEncryption: boolean;
  /** Whether keys of clients are taken over plain HTTP too. */
  readonly customerKeysWithoutTls: boolean;
  readonly openid: readonly OpenIdProviderSettings[];
  readonly personCheck: PersonCheckSettings;
  /** Each is absent where it is not set up. */
  readonly ldap?: LdapSettings;
  readonly clientCertificates?: ClientCertificateSettings;
  readonly identityPlugin?: IdentityPluginSettings;
  /** By the name of the setting: what the environment gives, for administrators who ask. */
  readonly given: ReadonlyMap<string, GivenSetting>;
  /** Things a person should know that do not stop the server, e.g. variables that no setting has. */
  readonly warnings: readonly string[];
}

/** Where records and blobs are kept, as written; in the data folder without it. */
export interface StoreSettings {
  /** May hold a password. */
  readonly records?: string;
  readonly recordsPassword?: string;
  /** The path of authorities. */
  readonly recordsCaFile?: string;
  readonly blobs?: string;
  /** Companions of `blobs` where it is a bucket. */
  readonly s3: {
    readonly endpoint?: string;
    /** The path of authorities. */
    readonly caFile?: string;
    readonly region: string;
    readonly accessKey?: string;
    readonly secretKey?: string;
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

/** Whether there are keys to encrypt with, wherever they come from. */
export function hasKeys(settings: Pick<ServerSettings, 'keyService' | 'secretKey'>): boolean {
  return settings.keyService !== undefined || settings.secretKey !== undefined;
}

/** Whether people who have credentials still exist at their provider. */
interface PersonCheckSettings {
  /** Milliseconds; 0 for never by itself. */
  readonly intervalMs: number;
  /** What becomes of somebody who wants credentials while the provider cannot be asked. */
  readonly unreachable: 'keep' | 'refuse';
}

export interface OpenIdProviderSettings {
  /** The `<ID>` of the variables, e.g. `PRIMARY_IAM`; `_` where they carry none. */
  readonly id: string;
  readonly enabled: boolean;
  readonly configUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly displayName?: string;
  readonly scopes: readonly string[];
  /** With the prefix put before it. */
  readonly claimName: string;
  readonly claimUserinfo: boolean;
  readonly rolePolicy: readonly string[];
  readonly redirectUri?: string;
  readonly redirectUriDynamic: boolean;
  readonly vendor?: 'keycloak' | 'kubernetes';
  /** Of an issuer of service-account tokens, at which nobody signs in. */
  readonly issuer?: string;
  readonly jwksUri?: string;
  /** Sent to the address of `configUrl` alone. */
  readonly tokenFile?: string;
  readonly adminUrl?: string;
  readonly realm: string;
  readonly caFile?: string;
  /** PEM. */
  readonly ca?: string;
  readonly userReadableClaim?: string;
  /** By which the admin interface knows a person; `sub` without it. */
  readonly userIdClaim?: string;
  readonly comment?: string;
}
