import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header } from './header.ts';
import type { S3Call } from './operation.ts';
import { guardFamilies, guardsElsewhere, guardsOfWrites, requestTable } from './request-table.ts';
import type { Treatment } from './request-table.ts';

/** What is left to do for a name when a request comes. */
type Rule = Exclude<Treatment, { readonly kind: 'harmless' }>;

/** The rule of names that the operation itself sees to, or nobody needs to. */
const none: Rule = { kind: 'honoured' };

/** Headers of signatures and bodies, which nearly every request has. */
const ofMessage =
  'x-amz-date x-amz-content-sha256 x-amz-security-token x-amz-user-agent x-amz-decoded-content-length x-amz-trailer';

const letterX = 'x'.charCodeAt(0);
const letterI = 'i'.charCodeAt(0);

/**
 * Refuses what a request says and its operation does not honour, and checks what is checked alike for all operations. It looks up each
 * header once, in a table that is made at start.
 *
 * @throws S3Error by the table
 */
export function checkRequest(operation: string, call: S3Call): void {
  const rules = rulesOf(operation);
  const { headers } = call.request;
  for (const name in headers) {
    const first = name.charCodeAt(0);
    // All others describe the message, or are read by the operation.
    if (first !== letterX && first !== letterI) continue;
    const rule = rules.get(name);
    if (rule === undefined) refuseUnknown(name);
    else if (rule !== none) applyTo(rule, name, header(headers, name) ?? '', call);
  }
  if (call.query.size === 0) return;
  for (const [name, value] of call.query) {
    const row = `?${name}`;
    const rule = rules.get(row);
    if (rule !== undefined && rule !== none) applyTo(rule, row, value, call);
  }
}

const made = new Map<string, ReadonlyMap<string, Rule>>();

function rulesOf(operation: string): ReadonlyMap<string, Rule> {
  const known = made.get(operation);
  if (known !== undefined) return known;
  const rules = new Map<string, Rule>(ofMessage.split(' ').map((name) => [name, none]));
  const isRead = /^(?:Get|Head|List)/.test(operation);
  for (const rows of [guardsElsewhere, isRead ? {} : guardsOfWrites, requestTable[operation] ?? {}]) {
    for (const [name, treatment] of Object.entries(rows)) rules.set(name, ruleOf(treatment));
  }
  made.set(operation, rules);
  return rules;
}

function ruleOf(treatment: Treatment): Rule {
  if (treatment.kind === 'harmless') return none;
  return treatment.kind === 'honoured' && treatment.check === undefined ? none : treatment;
}

function applyTo(rule: Rule, name: string, value: string, call: S3Call): void {
  if (rule.kind === 'honoured') {
    rule.check?.(value, call);
    return;
  }
  if (rule.except.includes(value.toLowerCase())) return;
  const argument = name.startsWith('?') ? name.slice(1) : name;
  throw new S3Error(rule.code, messageOf(name, argument, rule), { details: { ArgumentName: argument } });
}

/** In the words of AWS where there are any. The value is not repeated: it may be a key. */
function messageOf(name: string, argument: string, { code, why }: Extract<Rule, { readonly kind: 'refused' }>): string {
  if (name === '?versionId') return `This operation does not accept a version-id: ${why}.`;
  const what = name.startsWith('?') ? 'parameter' : 'header';
  return code === 'InvalidArgument'
    ? `${argument} ${what} is not supported for this operation: ${why}.`
    : `The ${what} ${argument} is not implemented: ${why}.`;
}

function refuseUnknown(name: string): void {
  if (!guardFamilies.test(name)) return;
  throw new S3Error('NotImplemented', `The header ${name.slice(0, 100)} is not implemented.`, {
    details: { ArgumentName: name.slice(0, 100) },
  });
}
