import { z } from 'zod';
import type { Json } from '../contract/workload.ts';
import type { Rule } from './rule.ts';

// Every string and list has a maximum: the API server refuses a CRD whose CEL rules could cost too much on unbounded ones.

/** The name of another object in the same namespace. */
export const objectName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

export const url = (help: string) => z.string().min(8).max(2048).describe(help);

export const port = z.int().min(1).max(65535);

const host = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9.:_-]+$/);

/**
 * The address on which a program listens in the local runtime. The CRD has no default, since the address means nothing in a cluster and
 * would appear in every resource. The default is set when a resource is read, so that a resource with the default written out equals one
 * without it.
 */
export const localHost = host
  .default('127.0.0.1')
  .describe('Address the local runtime listens on; 127.0.0.1 without it. Pods listen on all of theirs.')
  .meta({ default: undefined });

/** The name of a core object: Secrets, ConfigMaps and claims may have dots. */
export const coreObjectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

const dataKey = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/);

/** A key of a Secret. */
export const secretKeyRef = z.strictObject({
  name: coreObjectName.describe('Name of the Secret.'),
  key: dataKey.describe('Key in the Secret.'),
});

/** A key of a ConfigMap. */
export const configMapKeyRef = z.strictObject({
  name: coreObjectName.describe('Name of the ConfigMap.'),
  key: dataKey.describe('Key in the ConfigMap.'),
});

/** CA certificates in a ConfigMap or a Secret. The rule `isOneBundle` requires exactly one of the two. */
export const caBundleFrom = z.strictObject({
  configMapKeyRef: configMapKeyRef.optional(),
  secretKeyRef: secretKeyRef.optional(),
});
export type CaBundleFrom = z.output<typeof caBundleFrom>;

/** Holds also without a reference. */
export function isOneBundle(from: CaBundleFrom | undefined): boolean {
  return from === undefined || (from.configMapKeyRef === undefined) !== (from.secretKeyRef === undefined);
}

/** A Secret of which the operator reads fixed keys. */
export const secretRef = z.strictObject({ name: coreObjectName.describe('Name of the Secret.') });

const quantityUnit = '([KMGTPE]i|[kMGTPE]|[eE][+]?[0-9]{1,2})?';

/** A quantity of bytes as Kubernetes writes it: `100Mi`, `1.5G`, `1e9`. */
export const byteQuantity = z
  .string()
  .max(32)
  .regex(new RegExp(`^[0-9]+(\\.[0-9]+)?${quantityUnit}$`));

/** The size of a volume, which is not 0. */
export const volumeSize = z
  .string()
  .max(32)
  .regex(new RegExp(`^([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*)${quantityUnit}$`));

export const duration = z
  .string()
  .max(32)
  .regex(/^([0-9]+(ms|s|m|h|d))+$/);

/** A map of strings of at most `max` entries. */
export const stringMap = (max: number, value: z.ZodString = z.string().max(4096)) =>
  z
    .record(z.string().max(317), value)
    .refine((map) => Object.keys(map).length <= max, `at most ${max} entries`)
    .meta({ maxProperties: max });

/**
 * A part of the Kubernetes API that is passed on unchanged and checked by the API server when it is used. The CRD does not copy its schema,
 * which would make it ten times as large and refuse fields of a newer Kubernetes.
 */
export const kubernetesObject = (z.looseObject({}) as unknown as z.ZodType<Readonly<Record<string, Json>>>).meta({
  'x-kubernetes-preserve-unknown-fields': true,
});

/** A list of such objects. */
export const kubernetesObjects = (max: number) =>
  z.array(kubernetesObject).max(max).meta({ 'x-kubernetes-list-type': 'atomic' });

const effects: readonly unknown[] = ['Allow', 'Deny'];
const effectSchema = { Effect: { type: 'string', enum: ['Allow', 'Deny'] } };
const statementSchema = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: effectSchema,
  required: ['Effect'],
};
const actions = [{ required: ['Action'] }, { required: ['NotAction'] }];

/** A policy document, which the server checks. `Effect` is also checked here, where a typing error is visible. */
export const policyDocument = z
  .looseObject({
    Version: z.enum(['2012-10-17', '2008-10-17']).optional(),
    // One statement, or a list of them.
    Statement: z
      .unknown()
      .meta({
        ...statementSchema,
        type: undefined,
        minItems: 1,
        // The API server applies rules of fields to a list too. A list has no fields, so that `oneOf` would refuse every list.
        anyOf: actions,
        items: { ...statementSchema, oneOf: actions },
      })
      .optional(),
  })
  .superRefine(({ Statement: given }, context) => {
    // An empty document must not be taken for an absent one, which restricts nothing.
    if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) {
      const message = 'a policy document needs at least one statement: one without any would allow nothing';
      context.addIssue({ code: 'custom', path: ['Statement'], message });
    }
    for (const [index, statement] of (Array.isArray(given) ? (given as unknown[]) : [given]).entries()) {
      if (statement === null || typeof statement !== 'object') continue;
      const path = ['Statement', ...(Array.isArray(given) ? [index] : [])];
      if ('Action' in statement === 'NotAction' in statement) {
        context.addIssue({ code: 'custom', path, message: 'a statement needs exactly one of Action, NotAction' });
      }
      const effect = 'Effect' in statement ? statement.Effect : undefined;
      if (effects.includes(effect)) continue;
      const message =
        effect === undefined
          ? 'a statement needs an Effect: "Allow" or "Deny"'
          : `unsupported value ${JSON.stringify(effect)}: supported values: "Allow", "Deny"`;
      context.addIssue({ code: 'custom', path: [...path, 'Effect'], message });
    }
  })
  .meta({ 'x-kubernetes-preserve-unknown-fields': true, required: ['Statement'] }) as unknown as z.ZodType<
  Readonly<Record<string, Json>>
>;

/** A time with its zone, as the API server checks the format date-time. */
export const dateTime = z
  .string()
  .max(64)
  .refine(
    (value) => z.iso.datetime({ offset: true }).safeParse(value).success,
    'must be of type date-time, such as 2030-01-31T00:00:00Z',
  )
  .meta({ format: 'date-time' });

export const keyName = z
  .string()
  .min(1)
  .max(80)
  .regex(/^[A-Za-z0-9_-]+$/);

// The parts of an image: the registry with its port, the path, a tag, a digest. No two alternatives begin with the same text, so that no
// input takes long to match.
const registry = String.raw`([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]+)?`;
const component = String.raw`[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*`;
const tag = String.raw`[A-Za-z0-9_][A-Za-z0-9._-]{0,127}`;
const digest = String.raw`[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,128}`;
const imageReference = `^(${registry}/)?${component}(/${component})*(:${tag})?(@${digest})?$`;

/** The rule for resources with an image. It is not a pattern, so that its message can say what is expected. */
export const imageRule: Rule<{ readonly image?: string | undefined }> = {
  field: 'spec.image',
  message:
    'image must be a reference without blanks, such as registry.example.com/coffer:1.2 or registry.example.com/coffer@sha256:…',
  cel: `!has(self.image) || self.image.matches(r'${imageReference}')`,
  holds: ({ image: given }) => given === undefined || new RegExp(imageReference).test(given),
};

export const image = z
  .string()
  .min(1)
  .max(512)
  .describe('Container image. The local runtime runs the program it comes with.');

/** The fate of the external resource of a managed resource: a bucket, a policy, a user. */
export const tenantRef = z.strictObject({ name: objectName.describe('Name of a Tenant.') });

export const deletionPolicy = (standard: 'Retain' | 'Delete') => z.enum(['Retain', 'Delete']).default(standard);

/** An access key, as the server accepts it. */
export const accessKeyName = z
  .string()
  .min(3)
  .max(128)
  .regex(/^[A-Za-z0-9._@+-]+$/);

/** The name of an IAM policy. It has no comma, which separates names in settings and claims. */
export const policyName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^\s,]([^,]*[^\s,])?$/);

/** The Secret with the keys of a user or an access key. */
export const credentialsSecret = z
  .strictObject({ name: coreObjectName.describe('Name of the Secret.') })
  .describe(
    'Secret with the keys accessKey and secretKey, and the variables of SDKs of AWS. Made where there is none, as NAME-credentials without it.',
  );
