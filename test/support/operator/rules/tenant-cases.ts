import { badImages, goodImages, podSpec, type RuleCases, type Spec } from './rule-case.ts';

const caBundleFrom = { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } };
const database = { urlSecretRef: { name: 'postgres', key: 'url' } };
const records = { postgres: database };
const otherS3 = {
  endpoint: 'https://s3.example.com',
  region: 'eu-west-1',
  bucket: 'coffer-blobs',
  prefix: 'demo',
  credentialsSecret: { name: 's3' },
};

/** Stores that several servers can share. */
export const sharedStores: Readonly<Record<string, Spec>> = {
  s3: { records, blobs: { s3: otherS3 } },
  'private-authorities': {
    records: { postgres: { ...database, caBundleFrom: { secretKeyRef: { name: 'postgres', key: 'ca.crt' } } } },
    blobs: { s3: { ...otherS3, caBundleFrom } },
  },
  'shared-volume': { records, blobs: { sharedVolume: { claimName: 'blobs' } } },
};

/** The least in a cluster, where a volume needs a size. */
const sized: Spec = { storage: { size: '10Gi' } };
const tier = {
  name: 'COLD',
  type: 'minio',
  endpoint: 'https://s3.example.com',
  bucket: 'cold',
  credentialsSecret: { name: 'cold' },
};
const credentialsSecret = { name: 'brokers' };
/** A target of each type, with all its fields. */
export const notificationTargets: readonly Spec[] = [
  {
    id: 'BUILD',
    queueLimit: 5000,
    credentialsSecret: { name: 'build' },
    caBundleFrom,
    webhook: { endpoint: 'https://build.example.com/hook', httpTimeout: '10s' },
  },
  {
    id: 'nats_1',
    credentialsSecret,
    caBundleFrom,
    nats: {
      address: 'nats:4222',
      subject: 'coffer',
      jetstream: true,
      username: 'coffer',
      tls: true,
      tlsHandshakeFirst: false,
    },
  },
  {
    id: 'R',
    credentialsSecret,
    caBundleFrom,
    redis: { address: 'redis:6379', key: 'events', format: 'access', user: 'a', tls: true },
  },
  {
    id: 'M',
    credentialsSecret,
    caBundleFrom,
    mqtt: { broker: 'ssl://mqtt:8883', topic: 'coffer', qos: 1, username: 'a' },
  },
  { id: 'P', credentialsSecret, caBundleFrom, postgresql: { table: 'events', format: 'namespace' } },
  { id: 'MY', credentialsSecret, caBundleFrom, mysql: { table: 'events', format: 'access' } },
  {
    id: 'Q',
    credentialsSecret,
    caBundleFrom,
    amqp: {
      exchange: 'events',
      exchangeType: 'topic',
      routingKey: 'coffer',
      deliveryMode: 2,
      mandatory: true,
      durable: true,
      internal: false,
      autoDeleted: false,
    },
  },
  {
    id: 'K',
    credentialsSecret,
    caBundleFrom,
    kafka: {
      brokers: 'kafka-0:9092,kafka-1:9092',
      topic: 'coffer',
      sasl: true,
      saslMechanism: 'sha512',
      saslUsername: 'coffer',
      tls: true,
    },
  },
  {
    id: 'E',
    credentialsSecret,
    caBundleFrom,
    elasticsearch: { url: 'https://search:9200', index: 'events', format: 'access', username: 'a' },
  },
];
const hook = { endpoint: 'https://build.example.com/hook' };
const encrypted: Spec = { ...sized, kmsConfigRef: { name: 'keys' } };

export const tenantCases: RuleCases = {
  kind: 'Tenant',
  plural: 'tenants',
  good: [
    { title: 'nothing but a size', spec: sized },
    ...goodImages(sized),
    {
      title: 'every field',
      spec: {
        image: 'registry.example.com/coffer:1',
        ...podSpec,
        reclaimPolicy: 'Delete',
        replicas: 1,
        paused: true,
        hibernated: true,
        rootCredentialsSecret: { name: 'root' },
        identityProviders: [{ name: 'primary-iam' }],
        kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'demo-default' },
        settings: [
          { name: 'SVC_REGION', value: 'eu-west-1' },
          { name: 'SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM', value: 'https://siem.example.com' },
          { name: 'SVC_KMS_KEYSVC_KEY_PASSWORD', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } },
          { name: 'SVC_LOG_LEVEL', valueFrom: { configMapKeyRef: { name: 'x.y', key: 'level' } } },
        ],
        notificationTargets,
        auditTargets: [
          {
            id: 'SIEM',
            credentialsSecret: { name: 'siem' },
            caBundleFrom,
            webhook: {
              endpoint: 'https://siem.example.com/coffer',
              batchSize: 100,
              queueSize: 500000,
              maxRetry: 0,
              retryInterval: '3s',
              httpTimeout: '5s',
              durable: true,
            },
          },
        ],
        tiers: [
          { ...tier, prefix: 'demo', region: 'eu-west-1', storageClass: 'STANDARD_IA' },
          { name: 'AZURE', type: 'azure', bucket: 'cold', storageClass: 'Cool', credentialsSecret: { name: 'azure' } },
          { name: 'AWS', type: 's3', bucket: 'cold', credentialsSecret: { name: 'cold' } },
          {
            name: 'GOOGLE',
            type: 'gcs',
            bucket: 'cold',
            storageClass: 'NEARLINE',
            credentialsSecret: { name: 'google' },
          },
        ],
        addresses: { s3: { host: '0.0.0.0', port: 9100 }, console: { port: 9190 } },
        storage: { size: '10Gi', storageClassName: 'fast', accessMode: 'ReadWriteOncePod' },
        tls: { certManager: { issuerRef: { name: 'public', kind: 'ClusterIssuer' } }, dnsNames: ['*.s3.example.com'] },
        services: {
          s3: {
            type: 'LoadBalancer',
            port: 443,
            nodePort: 30443,
            labels: { a: 'b' },
            annotations: { c: 'd' },
            loadBalancerClass: 'example.com/internal',
            loadBalancerSourceRanges: ['10.0.0.0/8'],
            externalTrafficPolicy: 'Local',
          },
          console: {},
        },
        ingress: {
          s3: { host: 's3.example.com', className: 'nginx', annotations: { e: 'f' }, tlsSecretName: 's3-tls' },
          console: { host: 'console.example.com' },
        },
        monitoring: { serviceMonitor: { interval: '1m', labels: { release: 'prometheus' } } },
        networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }] },
      },
    },
    { title: 'a certificate of its own', spec: { ...sized, tls: { secretName: 'tls' } } },
    {
      title: 'a certificate that the operator makes',
      spec: { ...sized, tls: { operatorMade: true, dnsNames: ['s3.example'] } },
    },
    { title: 'a volume without a class', spec: { storage: { size: '1Ei', storageClassName: '' } } },
    { title: 'a size with an exponent', spec: { storage: { size: '1e9' } } },
    {
      title: 'names of a certificate in capitals, and addresses',
      spec: { ...sized, tls: { operatorMade: true, dnsNames: ['S3.Example.com', '2001:db8::1', '10.0.0.1'] } },
    },
    { title: 'a volume that exists', spec: { storage: { existingClaim: 'mine', accessMode: 'ReadWriteMany' } } },
    { title: 'several servers over another S3', spec: { replicas: 3, storage: sharedStores['s3'] } },
    { title: 'several servers over one volume', spec: { replicas: 3, storage: sharedStores['shared-volume'] } },
  ],
  bad: [
    {
      title: 'a target of no type',
      spec: { ...sized, notificationTargets: [{ id: 'BUILD' }] },
      message: 'a notification target needs exactly one of webhook, nats',
    },
    {
      title: 'a target of two types',
      spec: { ...sized, notificationTargets: [{ id: 'BUILD', webhook: hook, redis: { address: 'a:1', key: 'k' } }] },
      message: 'a notification target needs exactly one of webhook, nats',
    },
    {
      title: 'an audit target of no type',
      spec: { ...sized, auditTargets: [{ id: 'SIEM' }] },
      message: 'an audit target needs exactly one of webhook',
    },
    {
      title: 'a target with a name that ends a setting',
      spec: { ...sized, notificationTargets: [{ id: 'MECHANISM', kafka: { brokers: 'a:1', topic: 't' } }] },
      message: 'the id of a notification target may not end a name of a setting',
    },
    {
      title: 'a target with the name of the form for files',
      spec: { ...sized, auditTargets: [{ id: 'SIEM_FILE', webhook: hook }] },
      message: 'the id of an audit target may not end a name of a setting',
    },
    {
      title: 'a target with authorities from nowhere',
      spec: { ...sized, notificationTargets: [{ id: 'BUILD', webhook: hook, caBundleFrom: {} }] },
      message: 'caBundleFrom of a notification target needs exactly one',
    },
    {
      title: 'an audit target with authorities from nowhere',
      spec: { ...sized, auditTargets: [{ id: 'SIEM', webhook: hook, caBundleFrom: {} }] },
      message: 'caBundleFrom of an audit target needs exactly one',
    },
    {
      title: 'a target without the Secret that it needs',
      spec: { ...sized, notificationTargets: [{ id: 'Q', amqp: {} }] },
      message: 'need a credentialsSecret with a key: postgresql (connectionString), mysql (dsnString), amqp (url)',
    },
    {
      title: 'audit entries on a volume that there is not',
      spec: { storage: sharedStores['s3'], auditTargets: [{ id: 'SIEM', webhook: { ...hook, durable: true } }] },
      message: 'durable needs the volume of the server',
    },
    {
      title: 'a tier without an address',
      spec: { ...sized, tiers: [{ ...tier, endpoint: undefined }] },
      message: 'a tier of the type minio needs an endpoint',
    },
    {
      title: 'a tier with the name of a storage class',
      spec: { ...sized, tiers: [{ ...tier, name: 'STANDARD' }] },
      message: 'STANDARD, REDUCED_REDUNDANCY and RRS are no names of tiers',
    },
    ...badImages({}),
    {
      title: 'a setting without a value',
      spec: { settings: [{ name: 'SVC_REGION' }] },
      message: 'exactly one of value, valueFrom',
    },
    {
      title: 'a setting with two values',
      spec: { settings: [{ name: 'SVC_REGION', value: 'a', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } }] },
      message: 'exactly one of value, valueFrom',
    },
    {
      title: 'a setting from nowhere',
      spec: { settings: [{ name: 'SVC_REGION', valueFrom: {} }] },
      message: 'valueFrom needs exactly one of secretKeyRef, configMapKeyRef',
    },
    {
      title: 'a store as a setting',
      spec: { settings: [{ name: 'SVC_STORE_BLOBS', value: '/srv' }] },
      message: 'stores are no settings',
    },
    {
      title: 'several servers on one volume each',
      spec: { replicas: 2 },
      message: 'several replicas need storage.records.postgres',
    },
    {
      title: 'several servers with their blobs on one volume each',
      spec: { replicas: 2, storage: { records } },
      message: 'several replicas need storage.records.postgres',
    },
    {
      title: 'blobs in two places',
      spec: { storage: { blobs: { s3: otherS3, sharedVolume: { claimName: 'blobs' } } } },
      message: 'storage.blobs must name exactly one of s3, sharedVolume',
    },
    {
      title: 'another S3 of another scheme',
      spec: { storage: { blobs: { s3: { ...otherS3, endpoint: 'ftp://s3.example.com' } } } },
      message: 'storage.blobs.s3.endpoint must begin with https:// or http://',
    },
    {
      title: 'authorities of another S3 from two places',
      spec: {
        storage: {
          blobs: { s3: { ...otherS3, caBundleFrom: { ...caBundleFrom, secretKeyRef: { name: 'a', key: 'b' } } } },
        },
      },
      message: 'storage.blobs.s3.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
    },
    {
      title: 'authorities of a database from nowhere',
      spec: { storage: { records: { postgres: { ...database, caBundleFrom: {} } } } },
      message: 'storage.records.postgres.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
    },
    {
      title: 'the size of a volume that exists',
      spec: { storage: { existingClaim: 'mine', size: '10Gi' } },
      message: 'a volume that exists has its size',
    },
    {
      title: 'TLS without a certificate',
      spec: { tls: { operatorMade: false } },
      message: 'tls needs exactly one of secretName, certManager, operatorMade',
    },
    {
      title: 'two certificates',
      spec: { tls: { secretName: 'tls', operatorMade: true } },
      message: 'tls needs exactly one of secretName, certManager, operatorMade',
    },
    {
      title: 'names for a certificate that is there',
      spec: { tls: { secretName: 'tls', dnsNames: ['s3.example.com'] } },
      message: 'tls.dnsNames goes with certManager or operatorMade',
    },
    {
      title: 'a class of load balancer without one',
      spec: { services: { console: { loadBalancerClass: 'internal' } } },
      message: 'loadBalancerClass and loadBalancerSourceRanges need a Service of type LoadBalancer',
    },
    {
      title: 'a port of nodes for a Service that has none',
      spec: { services: { s3: { nodePort: 30000 } } },
      message: 'nodePort and externalTrafficPolicy need a Service of type NodePort or LoadBalancer',
    },
    {
      title: 'a volume of nothing',
      spec: { storage: { size: '0Gi' } },
      message: 'storage.size',
    },
    {
      title: 'a size that no cluster knows',
      spec: { storage: { size: '1GB' } },
      message: 'storage.size',
    },
    {
      title: 'root credentials as a setting',
      spec: { settings: [{ name: 'SVC_ROOT_PASSWORD', value: 'secret' }] },
      message: 'root credentials are no settings',
    },
    {
      title: 'an OpenID provider as settings',
      spec: { settings: [{ name: 'SVC_IDENTITY_OPENID_CLIENT_ID', value: 'x' }] },
      message: 'OpenID providers are no settings',
    },
    {
      title: 'one port for two things',
      spec: { addresses: { s3: { port: 9000 }, console: { port: 9000 } } },
      message: 'the S3 API and the console need different ports',
    },
    {
      title: 'a default port taken by the other',
      spec: { addresses: { console: { port: 9000 } } },
      message: 'the S3 API and the console need different ports',
    },
    {
      title: 'a default key outside the prefix',
      spec: { kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'other' } },
      message: 'kmsConfigRef.defaultKey must begin with keyPrefix',
    },
  ],
  badAtApiServer: [
    { title: 'nothing but a name', spec: {}, message: 'storage.size is needed' },
    {
      title: 'records elsewhere, and blobs on a volume without a size',
      spec: { storage: { records } },
      message: 'storage.size is needed',
    },
    {
      title: 'a folder of one machine',
      spec: { storage: { size: '10Gi', path: '/srv/coffer' } },
      message: 'storage.path is a folder of one machine',
    },
    {
      title: 'a setting that the server does not have',
      spec: { settings: [{ name: 'SVC_REGOIN', value: 'a' }] },
      message: 'settings must name settings of the server',
    },
  ],
  badChanges: [
    {
      title: 'a tier elsewhere',
      from: { ...sized, tiers: [tier] },
      to: { ...sized, tiers: [{ ...tier, bucket: 'colder' }] },
      message: 'type, endpoint, bucket and prefix of a tier may not change',
    },
    { title: 'encryption taken away', from: encrypted, to: sized, message: 'kmsConfigRef cannot be removed' },
    {
      title: 'records elsewhere',
      from: sized,
      to: { storage: { size: '10Gi', records } },
      message: 'storage may not change its kind of records or blobs',
    },
    {
      title: 'blobs elsewhere',
      from: { storage: sharedStores['s3'] },
      to: { storage: sharedStores['shared-volume'] },
      message: 'storage may not change its kind of records or blobs',
    },
    {
      title: 'another storage class',
      from: { storage: { size: '1Gi' } },
      to: { storage: { size: '1Gi', storageClassName: 'fast' } },
      message: 'storageClassName, accessMode and existingClaim may not change: what is stored',
    },
  ],
};
