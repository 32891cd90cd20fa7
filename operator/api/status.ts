import { z } from 'zod';

// The schemas of the status of each kind. Strings and lists have a maximum, as in specs.

const count = z.int32().min(0);
const generation = z
  .int()
  .min(0)
  .meta({ format: 'int64', maximum: undefined })
  .describe('The generation of the resource that it is about.');
const time = (help: string) => z.string().max(64).meta({ format: 'date-time' }).describe(help);

const condition = z.strictObject({
  type: z.string().max(316).describe('What it is about. Ready is there always, the others while they apply.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().max(1024).describe('Why, in one word for programs.'),
  message: z.string().max(32768).describe('Why, in words for people, and what to do.'),
  observedGeneration: generation.optional(),
  lastTransitionTime: time('When its status changed last.'),
});

const common = (types: string) => ({
  observedGeneration: generation.optional(),
  conditions: z
    .array(condition)
    .max(32)
    .optional()
    .describe(`The state of the resource: ${types}, OtherOperator.`)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
});

const program = {
  servers: z.string().max(32).optional().describe('Instances that are ready, of those that are wanted: 2/3.'),
  replicas: count.optional().describe('Pods that there are, ready or not. The scale subresource reads it.'),
  selector: z.string().max(512).optional().describe('Label selector of the pods. The scale subresource reads it.'),
  health: z
    .enum(['Healthy', 'Degraded', 'Unavailable', 'Hibernated', 'Unknown'])
    .optional()
    .describe('Healthy: all instances are ready. Degraded: some are. Unavailable: none is.'),
  version: z.string().max(512).optional().describe('Version that runs; several while instances are replaced.'),
  addresses: z
    .record(z.string().max(63), z.string().max(512))
    .optional()
    .describe('HOST:PORT of each port, by the name of the port.')
    .meta({ maxProperties: 8 }),
  rollout: z
    .strictObject({
      reason: z.string().max(4096).describe('Which changes the instances are replaced for.'),
      updated: count.describe('Instances that run what is wanted.'),
      total: count.describe('Instances in all.'),
    })
    .optional()
    .describe('There while instances are replaced, or wait to be.'),
  certificates: z
    .array(
      z.strictObject({
        name: z.string().max(253).describe('Name of the certificate.'),
        notAfter: time('When it ends.'),
      }),
    )
    .max(16)
    .optional()
    .describe('Certificates that its programs use.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
};

const basic = 'Ready, Reconciling, Stalled';
const withWorkload = `${basic}, TLSReady, RolloutBlocked, VolumeResizing, MonitoringReady, ChangedByCluster, UpgradeHeld`;

/** The fingerprint shows that the value of a Secret changed, and nothing of the value. */
const credentials = z.string().max(128).describe('Fingerprint of the credentials that were set last.');

export const tenantStatus = z.strictObject({
  ...common(`${withWorkload}, IdentityReady, KMSReady, TiersReady, StorePromoted, VolumeFull`),
  ...program,
  keyService: z
    .strictObject({
      name: z.string().max(63).describe('Name of the KMSConfig.'),
      keyPrefix: z.string().max(64).describe('What the names of the keys begin with.'),
      defaultKey: z.string().max(128).optional().describe("Its default key; the KMSConfig's without it."),
    })
    .optional()
    .describe('The key service whose keys sealed the data of the tenant.'),
  deployment: z
    .string()
    .max(64)
    .optional()
    .describe('The ID of the deployment whose data its store holds. A store of another deployment is refused.'),
  keys: z
    .array(
      z.strictObject({
        key: z.string().max(80).describe('Name of the key.'),
        canaries: z
          .array(
            z.strictObject({
              version: z
                .string()
                .max(128)
                .optional()
                .describe('The version of the key, where the key service tells one.'),
              ciphertext: z.string().max(1024).describe('What the key sealed: who opens it has the key.'),
              digest: z.string().max(64).describe('The SHA-256 of the plaintext, in hexadecimal digits.'),
            }),
          )
          .max(64)
          .describe('One for each version of the key.')
          .meta({ 'x-kubernetes-list-type': 'atomic' }),
      }),
    )
    .max(256)
    .optional()
    .describe('The keys that sealed its data, as its server told them last. They prove a key service.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] }),
  tiers: z
    .array(z.strictObject({ name: z.string().max(64).describe('Name of the tier.'), credentials }))
    .max(256)
    .optional()
    .describe('Tiers that were added by this resource, so that those that it no longer names are removed.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
});

export const kmsConfigStatus = z.strictObject({
  ...common(`${withWorkload}, SwapPossible, KeyStoreUnavailable`),
  ...program,
});

export const identityProviderStatus = z.strictObject({
  ...common(basic),
  issuer: z.string().max(2048).optional().describe('Issuer that the provider named at its last check.'),
});

export const bucketStatus = z.strictObject({
  ...common(basic),
  bucketName: z.string().max(63).optional().describe('Name of the bucket.'),
  settings: z
    .array(z.string().max(132))
    .max(128)
    .optional()
    .describe(
      'Settings that were written by this resource: encryption, policy, tag KEY. Those that it no longer names are removed.',
    )
    .meta({ 'x-kubernetes-list-type': 'set' }),
  replicationTargets: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('Name of the target.'),
        arn: z.string().max(512).describe('Its ARN in the server.'),
        credentials,
      }),
    )
    .max(256)
    .optional()
    .describe('Targets that were added by this resource, so that those that it no longer names are removed.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
});

export const policyStatus = z.strictObject({
  ...common(basic),
  policyName: z.string().max(128).optional().describe('Name of the policy.'),
});

export const policyBindingStatus = z.strictObject({
  ...common(basic),
  attached: z
    .array(
      z.strictObject({
        to: z.string().max(1024).describe('user NAME, group NAME or claim PROVIDER NAME=VALUE.'),
        policies: z.array(z.string().max(128)).max(64).describe('Policies that it has by this binding.'),
      }),
    )
    .max(4096)
    .optional()
    .describe('What this binding attached, so that it takes away what it no longer names.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['to'] }),
});

/** The status of a User and of an AccessKey. */
export const credentialsStatus = z.strictObject({
  ...common(basic),
  accessKey: z.string().max(128).optional().describe('The access key.'),
  credentialsSecret: z.string().max(253).optional().describe('Name of the Secret with its keys.'),
  credentials: credentials.optional(),
});
