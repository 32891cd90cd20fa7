/** What reads a field, or what it refers to, and how a wrong value is found before a pod is touched. */
export interface FieldRow {
  /** Paths of fields, or their beginnings that end in a dot or in `[]`. */
  readonly fields: readonly string[];
  /**
   * `start`: a program reads it at its start, and the operator reads it with that program's code before (titles of `refusedStarts` or
   * `refusedKeyServices`). `schema`: a program reads it, and takes every value that the schema and the rules of the resource admit.
   * `api-server`: Kubernetes alone reads it, whose refusal is the condition `ObjectRefused` and changes no pod. `operator`: the operator alone reads it.
   * `later`: a program reads it while it runs, or waits for what it names: it ends no start.
   */
  readonly readBy: 'start' | 'schema' | 'api-server' | 'operator' | 'later';
  readonly titles?: readonly string[];
}

const pod = [
  'image',
  'imagePullPolicy',
  'imagePullSecrets[].',
  'resources',
  'nodeSelector',
  'tolerations[]',
  'affinity',
  'topologySpreadConstraints[]',
  'priorityClassName',
  'runtimeClassName',
  'podSecurityContext',
  'podLabels',
  'containerSecurityContext',
  'serviceAccountName',
  'podAnnotations',
  'terminationGracePeriodSeconds',
];
const around = ['monitoring.', 'networkPolicy.', 'reclaimPolicy', 'replicas'];

export const tenantFields: readonly FieldRow[] = [
  { fields: [...pod, ...around, 'services.', 'ingress.', 'tls.certManager.'], readBy: 'api-server' },
  {
    fields: ['paused', 'hibernated', 'tls.operatorMade', 'tls.dnsNames[]', 'kmsConfigRef.keyPrefix'],
    readBy: 'operator',
  },
  { fields: ['storage.size', 'storage.storageClassName', 'storage.accessMode'], readBy: 'api-server' },
  { fields: ['storage.path', 'storage.existingClaim', 'storage.blobs.sharedVolume.claimName'], readBy: 'later' },
  // The IdentityProvider is checked, and its accepted version is rendered.
  { fields: ['identityProviders[].name', 'kubernetesServiceAccounts.audience', 'addresses.'], readBy: 'schema' },
  { fields: ['kmsConfigRef.name', 'kmsConfigRef.defaultKey'], readBy: 'later' },
  {
    fields: ['rootCredentialsSecret.name'],
    readBy: 'start',
    titles: [
      'a root password of three characters',
      'a root user of two characters',
      'a root password that ends with a blank',
    ],
  },
  {
    fields: ['tls.secretName'],
    readBy: 'start',
    titles: [
      'a certificate that is not that of the key',
      'a certificate that is not PEM',
      'a key that is not PEM',
      'a chain in the wrong order',
    ],
  },
  {
    fields: ['storage.records.postgres.urlSecretRef.'],
    readBy: 'start',
    titles: [
      'an address of a database that is none',
      'an address of a database with an sslmode that encrypts perhaps',
      'an address of a database without a user',
    ],
  },
  {
    fields: ['storage.records.postgres.caBundleFrom.'],
    readBy: 'start',
    titles: ['authorities of a database beside sslmode=disable'],
  },
  { fields: ['storage.blobs.s3.bucket'], readBy: 'start', titles: ['a bucket of another S3 that is none'] },
  { fields: ['storage.blobs.s3.'], readBy: 'later' },
  {
    fields: ['settings[].'],
    readBy: 'start',
    titles: [
      'a secret key of the server itself that is none',
      'encryption by default without a key service',
      'an origin that is none',
      'a range of proxies that is none',
      'a domain that is none',
      'an address of websites that is none',
      'a directory without its address',
    ],
  },
  {
    fields: ['notificationTargets[].', 'auditTargets[].'],
    readBy: 'start',
    titles: ['a token of a target that ends with a blank'],
  },
  // The operator adds tiers by calls, once the server runs.
  { fields: ['tiers[].'], readBy: 'operator' },
];

export const keyServiceFields: readonly FieldRow[] = [
  { fields: [...pod, ...around, 'certificates.', 'keystore.files.'], readBy: 'api-server' },
  {
    fields: ['address.', 'defaultKey', 'keys[].', 'enclave', 'policies[].name', 'policies[].allow[]'],
    readBy: 'schema',
  },
  { fields: ['policies[].deny[]'], readBy: 'start', titles: ['a line under deny that denies nothing'] },
  { fields: ['policies[].identities[]'], readBy: 'start', titles: ['one identity in two policies'] },
  { fields: ['cache.'], readBy: 'start', titles: ['a time of the cache that no number holds'] },
  { fields: ['keystore.aws.endpoint'], readBy: 'start', titles: ['an address of AWS that is none'] },
  { fields: ['keystore.gcp.endpoint'], readBy: 'start', titles: ['an address of Google that is none'] },
  { fields: ['keystore.vault.endpoint'], readBy: 'start', titles: ['an address of a vault with a password'] },
  { fields: ['keystore.azure.endpoint'], readBy: 'start', titles: ['an address of an Azure Key Vault with a query'] },
  { fields: ['keystore.vault.prefix'], readBy: 'start', titles: ['a variable of the environment in a prefix'] },
  {
    fields: ['keystore.vault.caBundleFrom.', 'keystore.azure.caBundleFrom.'],
    readBy: 'start',
    titles: [
      'authorities of a vault that are no certificate',
      'authorities of an Azure Key Vault that are no certificate',
    ],
  },
  // The check of a changed keystore, in a pod of its own, tries the login.
  { fields: ['keystore.azure.', 'keystore.vault.', 'keystore.aws.', 'keystore.gcp.'], readBy: 'later' },
];

/** The check of a provider proves it before a tenant gets it; the server takes every value of these that the rules admit. */
export const providerFields: readonly FieldRow[] = [
  {
    fields: ['configUrl', 'clientId', 'clientSecretRef.', 'caBundle', 'caBundleFrom.', 'scopes[]'],
    readBy: 'operator',
  },
  {
    fields: [
      'enabled',
      'cliClientId',
      'displayName',
      'claimName',
      'claimPrefix',
      'claimUserinfo',
      'rolePolicy[]',
      'redirectUri',
      'redirectUriDynamic',
      'vendor',
      'adminUrl',
      'realm',
      'comment',
    ],
    readBy: 'schema',
  },
];
