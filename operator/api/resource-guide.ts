import { z } from 'zod';
import { eachKind, type Kind } from './kinds.ts';
import { apiGroup, apiVersion } from './object.ts';
import { restartAnnotation, rotateAnnotation } from './tenant.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** `docs/guides/resources.md`: every field of every kind, and the rules between them, from the schemas. */
export function resourceGuide(): string {
  const parts = eachKind(section);
  return `# Resources

<!-- Made by \`npm run crds\` from operator/api. Do not edit. -->

All are \`${apiVersion}\`, namespaced, with conditions in their status: \`Ready\`, and while they hold \`Reconciling\` or \`Stalled\`; a
Tenant also has \`IdentityReady\`, \`KMSReady\` and, where they apply, \`TLSReady\`, \`RolloutBlocked\`, \`VolumeResizing\`, \`ChangedByCluster\`, \`UpgradeHeld\` and \`StorePromoted\`; a
KMSConfig \`SwapPossible\` and \`KeyStoreUnavailable\`; each \`OtherOperator\` while a second operator waits for its namespace. Unknown fields are refused. Secrets are never written into these: they are named, as Secret and key.

A change of the annotation \`${restartAnnotation}\` restarts the program of a Tenant or KMSConfig; one of \`${rotateAnnotation}\` makes new keys
for its certificates.

${parts.join('\n')}`;
}

const schemaOf = (type: z.ZodType): Schema =>
  z.toJSONSchema(type, { target: 'openapi-3.0', io: 'input', reused: 'inline' }) as Schema;

function section<Spec>({ kind, plural, shortNames, description, spec, status, rules, scales }: Kind<Spec>): string {
  const messages = [...rules.always, ...rules.onChange].map(({ message }) => `- ${message}`);
  return `## ${kind}

${description} Short name: \`${shortNames.join(', ')}\`.

| field of spec | type | default | meaning |
|---|---|---|---|
${rows(schemaOf(spec), '').join('\n')}

Rules:

${[...new Set(messages)].join('\n')}
${scales === true ? scaleNote(plural) : ''}
| field of status | type | meaning |
|---|---|---|
${statusRows(schemaOf(status), '').join('\n')}
`;
}

function rows(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}${name}`;
    const required = schema.required?.includes(name) === true;
    const inner = field.items ?? field;
    const row = `| \`${here}\` | ${typeOf(field)} | ${required ? 'required' : valueOf(field.default)} | ${field.description ?? ''} |`;
    return [row, ...rows(inner, field.items === undefined ? `${here}.` : `${here}[].`)];
  });
}

function scaleNote(plural: string): string {
  return `\n\`spec.replicas\` is also that of the scale subresource: \`kubectl scale ${plural}.${apiGroup}/NAME --replicas=3\`.\n`;
}

function statusRows(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}${name}`;
    const row = `| \`${here}\` | ${typeOf(field)} | ${field.description ?? ''} |`;
    // Conditions are those of every Kubernetes resource.
    const inner = name === 'conditions' ? {} : (field.items ?? field);
    return [row, ...statusRows(inner, field.items === undefined ? `${here}.` : `${here}[].`)];
  });
}

function typeOf({ type, enum: choices, items, additionalProperties }: Schema): string {
  if (type === 'object' && additionalProperties?.type === 'string') return 'map of string';
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ');
  return items === undefined ? (type ?? '') : `list of ${items.type ?? ''}`;
}

function valueOf(value: unknown): string {
  return value === undefined || JSON.stringify(value) === '{}' ? '' : `\`${JSON.stringify(value)}\``;
}
