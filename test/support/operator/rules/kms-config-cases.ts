import { badImages, podSpec, type RuleCases, type Spec } from './rule-case.ts';

const files: Spec = { keystore: { files: { size: '1Gi' } }, defaultKey: 'first' };
const azureApplication = {
  tenantId: '00000000-0000-0000-0000-000000000001',
  clientId: '00000000-0000-0000-0000-000000000002',
};
const azure = {
  endpoint: 'https://keys.vault.azure.net',
  clientSecret: { ...azureApplication, clientSecretRef: { name: 'azure', key: 'secret' } },
};
const vault = { endpoint: 'https://vault.example.com:8200', kubernetes: { role: 'coffer' } };
const approle = {
  roleIdSecretRef: { name: 'vault', key: 'role-id' },
  secretIdSecretRef: { name: 'vault', key: 'secret-id' },
};

/** Keystores of every kind, by what sets each apart. */
export const keystores: Readonly<Record<string, Spec>> = {
  'azure-client-secret': { azure },
  'azure-managed-identity': { azure: { endpoint: azure.endpoint, managedIdentity: {} } },
  'azure-workload-identity': { azure: { endpoint: azure.endpoint, workloadIdentity: azureApplication } },
  'azure-private-cloud': {
    azure: {
      ...azure,
      authorityHost: 'https://login.example.com',
      audience: 'https://vault.example.com',
      caBundleFrom: { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } },
    },
  },
  'vault-approle': {
    vault: { endpoint: vault.endpoint, engine: 'secret', version: 'v2', namespace: 'team', prefix: 'coffer', approle },
  },
  'vault-kubernetes': { vault },
  'vault-private-authority': {
    vault: { ...vault, caBundleFrom: { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } } },
  },
  'aws-credentials': {
    aws: { region: 'eu-west-1', kmsKey: 'alias/coffer', credentialsSecret: { name: 'aws' } },
  },
  'aws-identity': { aws: { region: 'eu-west-1', endpoint: 'secrets.example.com' } },
  'gcp-credentials': {
    gcp: {
      projectId: 'coffer',
      scopes: ['https://www.googleapis.com/auth/cloud-platform'],
      credentialsSecretRef: { name: 'gcp', key: 'key.json' },
    },
  },
  'gcp-identity': { gcp: { projectId: 'coffer', endpoint: 'secretmanager.example.com' } },
};

const policy = { name: 'auditors', allow: ['/v1/log/audit'], identities: ['a'.repeat(64)] };

export const kmsConfigCases: RuleCases = {
  kind: 'KMSConfig',
  plural: 'kmsconfigs',
  good: [
    { title: 'keys in files', spec: files },
    ...Object.entries(keystores).map(([title, keystore]) => ({ title, spec: { keystore, defaultKey: 'first' } })),
    {
      title: 'every field',
      spec: {
        ...files,
        ...podSpec,
        keystore: { files: { size: '1Gi', storageClassName: 'fast', accessMode: 'ReadWriteMany' } },
        reclaimPolicy: 'Delete',
        certificates: { life: '30d', certManager: { issuerRef: { name: 'internal' } } },
        enclave: 'team',
        monitoring: { serviceMonitor: { interval: '30s', labels: { release: 'prometheus' } } },
        networkPolicy: { enabled: true, alsoFrom: [{ podSelector: {} }] },
        image: 'registry.example.com/coffer:1',
        replicas: 3,
        address: { host: '0.0.0.0', port: 7374 },
        keys: [{ name: 'a' }, { name: 'b' }],
        cache: { any: '5m', unused: '30s', offline: '1h' },
        policies: [{ ...policy, deny: ['/v1/key/delete/*'] }],
      },
    },
  ],
  bad: [
    ...badImages(files),
    { title: 'no keystore', spec: { ...files, keystore: {} }, message: 'keystore must name exactly one of' },
    {
      title: 'a bundle of authorities that comes from nowhere',
      spec: { keystore: { azure: { ...azure, caBundleFrom: {} } }, defaultKey: 'first' },
      message: 'keystore.azure.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
    },
    {
      title: 'a bundle of authorities of a vault that comes from nowhere',
      spec: { keystore: { vault: { ...vault, caBundleFrom: {} } }, defaultKey: 'first' },
      message: 'keystore.vault.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
    },
    {
      title: 'an authority without TLS',
      spec: { keystore: { azure: { ...azure, authorityHost: 'http://login.example.com' } }, defaultKey: 'first' },
      message: 'keystore.azure.authorityHost and audience must begin with https://',
    },
    {
      title: 'two keystores',
      spec: { ...files, keystore: { files: { size: '1Gi' }, azure } },
      message: 'keystore must name exactly one of',
    },
    {
      title: 'a key vault without TLS',
      spec: { ...files, keystore: { azure: { ...azure, endpoint: 'http://keys.vault.azure.net' } } },
      message: 'keystore.azure.endpoint must begin with https://',
    },
    {
      title: 'two identities at Azure',
      spec: { ...files, keystore: { azure: { ...azure, managedIdentity: {} } } },
      message: 'keystore.azure needs exactly one of clientSecret, managedIdentity, workloadIdentity',
    },
    {
      title: 'a vault of another scheme',
      spec: { ...files, keystore: { vault: { ...vault, endpoint: 'ftp://vault.example.com' } } },
      message: 'keystore.vault.endpoint must begin with https://',
    },
    {
      title: 'a vault without a login',
      spec: { ...files, keystore: { vault: { endpoint: vault.endpoint } } },
      message: 'keystore.vault needs exactly one of approle, kubernetes',
    },
    {
      title: 'the size of a volume that exists',
      spec: { ...files, keystore: { files: { existingClaim: 'mine', size: '1Gi' } } },
      message: 'a volume that exists has its size',
    },
    {
      title: 'several pods on a volume for one',
      spec: { ...files, replicas: 2, keystore: { files: { size: '1Gi', accessMode: 'ReadWriteOncePod' } } },
      message: 'a volume of accessMode ReadWriteOncePod serves one replica',
    },
    {
      title: "a policy named like a tenant's",
      spec: { ...files, policies: [{ ...policy, name: 'tenant-demo' }] },
      message: 'the name of a policy may not begin with tenant-',
    },
    {
      title: 'a policy path without its slash',
      spec: { ...files, policies: [{ ...policy, allow: ['v1/status'] }] },
      message: 'a path in a policy must begin with /',
    },
    {
      title: 'a denied path without its slash',
      spec: { ...files, policies: [{ ...policy, deny: ['v1/status'] }] },
      message: 'a path in a policy must begin with /',
    },
  ],
  badAtApiServer: [
    {
      title: 'keys in files on a volume without a size',
      spec: { ...files, keystore: { files: {} } },
      message: 'keystore.files.size is needed',
    },
    {
      title: 'a folder of one machine',
      spec: { ...files, keystore: { files: { size: '1Gi', path: '/srv/keys' } } },
      message: 'keystore.files.path is a folder of one machine',
    },
  ],
  badChanges: [
    {
      title: 'another kind of keystore',
      from: files,
      to: { ...files, keystore: { azure } },
      message: 'keystore may not change its kind',
    },
    {
      title: 'another volume of keys',
      from: files,
      to: { ...files, keystore: { files: { existingClaim: 'mine' } } },
      message: 'storageClassName, accessMode and existingClaim may not change: the keys',
    },
  ],
};
